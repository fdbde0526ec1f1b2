"""Inbound messages and the replies to them."""

from typing import Any

from app.db.engine import Pool
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import bodies

TO, OTHER = "+12025550143", "+12025550144"
STOPPED = "Blue Door: you are unsubscribed and will get no more messages. Reply START to resubscribe."
UNCLEAR = "STOP what time is the showing"


async def replies(pool: Pool) -> list[str]:
    return await bodies(pool, purpose="compliance")


async def consents(pool: Pool) -> list[tuple[str, str, str]]:
    return await CONSENTS.where_not(kind="attested").read(pool, "kind", "method", "text")


async def contact(pool: Pool) -> Any:
    return await CONTACTS.where(phone=TO).only(pool)


async def conversation(pool: Pool) -> Any:
    return await CONVERSATIONS.only(pool)
