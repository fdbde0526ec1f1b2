"""The CRMs that the operator has set up, each with its adapter."""

from collections.abc import Callable, Mapping

from app.domain.crm.connector import CrmConnector
from app.providers.crm import highlevel
from app.providers.outbound.client import HttpClient
from app.settings import Settings

OPENERS: tuple[Callable[[Settings, HttpClient], CrmConnector | None], ...] = (highlevel.open_highlevel,)
"""One entry for each CRM, which returns None where the operator has not set it up; a new one is added here."""


def open_crms(settings: Settings, client: HttpClient) -> Mapping[str, CrmConnector]:
    """Return the CRMs that accounts can connect, by their names."""
    opened = (open(settings, client) for open in OPENERS)
    return {each.name: each for each in opened if each}
