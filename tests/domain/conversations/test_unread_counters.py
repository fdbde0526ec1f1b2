"""Unread counters of conversations, whatever the order of texts and reads."""

import asyncio

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import queries
from app.domain.messages import queries as messages
from app.domain.messages import reading
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.traps import until_blocked
from tests.waiting import within

PHONE = "+12025550143"


async def text_in(services: Services, account: Opened, body: str) -> None:
    inbound = InboundMessage(f"in-{body}", PHONE, account.phone_number, body)
    await services.inbox.receive("sandbox", inbound)


async def test_a_text_that_is_stored_while_a_later_one_is_read_is_unread_until_it_is_read(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await text_in(services, account, "First")
    id = await CONVERSATIONS.only(services, "id")
    copied = dict(await MESSAGES.only(services)) | {"direction": "outbound", "provider_message_id": None}
    del copied["id"]
    async with unit_for(account) as unit:
        await queries.get(unit, id, lock=True)
        late = asyncio.create_task(text_in(services, account, "Late"))
        await until_blocked(services.database.pool)
        await MESSAGES.insert(services, **copied)
        await reading.update(unit, id, {"read_up_to": await MESSAGES.where(direction="outbound").only(services, "id")})
    await within("the text", late)

    newest = await MESSAGES.where(body="Late").only(services, "id")
    read_up_to, unread_count = await CONVERSATIONS.only(services, "read_up_to", "unread_count")
    assert unread_count == 1
    async with unit_for(account) as unit:
        found = await messages.find_first_unread(unit, [(id, read_up_to)])
        assert found == {(id, read_up_to): newest}
    async with unit_for(account) as unit:
        last = await MESSAGES.last(services, "id")
        assert (await reading.update(unit, id, {"read_up_to": last})).unread_count == 0
    await text_in(services, account, "Late")
    assert await MESSAGES.where(body="Late").count(services) == 1
