"""Work on many conversations in one transaction locks them in the order of their ids, as changes of many do."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from app.domain.bulk import deletions
from app.domain.bulk.selection import Selection
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.conversations import queries, review, service
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Act, SetClock, UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import advance
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

PHONES = ["+12025550143", "+12025550144"]
FIRST: Any = {"first_message": "Hi", "from_number": PHONES[0], "to_number": "+15002000001"}


async def hold_two(unit: UnitOfWork) -> list[int]:
    """Hold two contacts, of which the newer has the older conversation; return the ids of the conversations."""
    held = [await contacts.find_or_create(unit, phone, "inbound_sms") for phone in PHONES]
    opened = list[int]()
    for contact in reversed(held):
        conversation = await service.find_or_open(unit, contact, FIRST)
        conversation.possible_opt_out = True
        await unit.save(conversation)
        opened.append(conversation.id)
    for contact in reversed(held):
        await opt_outs.hold(unit, contact)
    return opened


async def expire(services: Services, perform: Act) -> None:
    async def run(unit: UnitOfWork) -> None:
        unit.clock = SetClock(services.clock.now() + timedelta(days=2))
        await review.expire(unit)

    await perform(run)


async def delete(services: Services, perform: Act) -> None:
    ids = list(await CONTACTS.read(services, "id"))
    await perform(deletions.delete, Selection(ids=ids))
    await advance(services)


@pytest.mark.parametrize("work", [expire, delete])
async def test_work_on_many_conversations_waits_for_their_change_without_a_deadlock(
    services: Services,
    unit_for: UnitFor,
    account: Opened,
    perform: Act,
    work: Callable[[Services, Act], Awaitable[None]],
) -> None:
    older, newer = await perform(hold_two)

    async with unit_for(account) as unit:
        await queries.lock_many(unit, [older])
        working = asyncio.create_task(work(services, perform))
        await until_blocked(services.database.pool)
        await queries.lock_many(unit, [newer])
    await within("the work", working)

    assert await CONTACTS.where(status="active").count(services) == 0
