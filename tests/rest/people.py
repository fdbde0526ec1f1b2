"""Creates contacts over REST."""

from typing import Any

import httpx2

from tests.rest.answers import data

PHONE = "+12025550143"
STAGES = ["new_lead", "contacted", "qualified", "proposal", "won", "lost"]


async def create(api: httpx2.AsyncClient, **fields: Any) -> Any:
    return data(await api.post("/contacts", json={"phone": PHONE} | fields))
