"""Sends of tests, and their results."""

import asyncio
from typing import Any

from app.db.engine import Pool
from app.domain.messages.requests import Send
from tests.factories.billing import entries
from tests.factories.events import event_names
from tests.factories.messages import states

TO, OTHER = "+12025550143", "+12025550144"


def hello(to: str = TO, body: str = "Hello", **wishes: Any) -> Send:
    return Send(to, body, consent_attested=True, **wishes)


async def verdicts(*sends: Any) -> list[Any]:
    return await asyncio.gather(*sends, return_exceptions=True)


async def nothing_was_kept(pool: Pool) -> bool:
    return not await entries(pool) and not await states(pool) and not await event_names(pool, "new_contact")
