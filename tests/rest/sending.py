"""Sends over REST, and their rows."""

from typing import Any

import httpx2

from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.billing import LEDGER_ENTRIES
from tests.rest.answers import data
from tests.rest.carriers import inbound

TO = "+12025550143"
SEND = {"to": TO, "message": "Hello", "consent_attested": True}


async def send(api: httpx2.AsyncClient, **wishes: Any) -> Any:
    return data(await api.post("/sms/send", json=SEND | wishes))


async def entries(pool: Pool) -> int:
    """Count the ledger entries; the first is that of the starter credits."""
    return await LEDGER_ENTRIES.count(pool)


async def receive(services: Services, account: Opened, text: str, from_number: str = TO) -> None:
    await services.inbox.receive("sandbox", inbound(from_number, account.phone_number, text))
