"""Reads connections to CRMs, links, pushes and sends; gives services a CRM that authorizes everybody."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from app.domain.crm.connector import CrmConnector, Tokens
from app.services import Services
from tests.factories.tables import Rows

CRM_CONNECTIONS = Rows("crm_connections")
CRM_LINKS = Rows("crm_links")
CRM_PUSHES = Rows("crm_pushes")
CRM_SENDS = Rows("crm_sends")


class OpenCrm:
    """A CRM of which only the authorization works."""

    name, title = "crm", "CRM"

    def authorize_url(self, state: str, challenge: str, redirect_url: str) -> str:
        """Return an address."""
        return f"https://crm.example/authorize?state={state}&code_challenge={challenge}&redirect_uri={redirect_url}"

    async def exchange(self, code: str, verifier: str, redirect_url: str) -> Tokens:
        """Return tokens for any code."""
        return Tokens("access", "refresh", 3600, f"location of {code}")


def with_crm(services: Services) -> Services:
    """Return services at which accounts can connect a CRM."""
    connectors: Mapping[str, Any] = {"crm": cast("CrmConnector", OpenCrm())}
    return replace(services, crm=replace(services.crm, connectors=connectors))
