"""The CRMs that the operator has set up, each with its adapter."""

from collections.abc import Callable, Mapping

from app.domain.crm.connector import CrmConnector
from app.providers.crm import highlevel
from app.providers.outbound.client import HttpClient
from app.settings import Settings

Opener = Callable[[Settings, HttpClient], CrmConnector | None]
"""Opens a CRM; returns None where the operator has not set it up."""

OPENERS: Mapping[str, Opener] = {"highlevel": highlevel.open_highlevel}
"""One entry for each CRM; a new one is added here."""


def open_crms(settings: Settings, client: HttpClient) -> Mapping[str, CrmConnector]:
    """Return the CRMs that accounts can connect, by their names."""
    opened = {name: open(settings, client) for name, open in OPENERS.items()}
    return {name: connector for name, connector in opened.items() if connector}
