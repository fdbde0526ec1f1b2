"""The feed: everything that is shown live, once, in one order, whenever its transaction ends."""

import asyncio
import random
from collections.abc import Callable
from typing import Any, cast

import pytest

from app.db.engine import Pool
from app.domain.events.dispatcher import Dispatcher
from app.domain.kernel import retention
from app.domain.kernel.events import UpdateKind
from app.domain.live.feed import MAX_MISSED, PAGE, Feed, UpdatesMissed
from app.domain.live.reactions import REACTIONS
from app.domain.live.retention import RULES
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.events import LIVE_UPDATES, record, record_many

pytestmark = pytest.mark.anyio


class CountingPool:
    """Counts the statements that it passes on."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self.statements = pool, 0

    def __getattr__(self, name: str) -> Any:
        self.statements += 1
        return getattr(self._pool, name)


async def dispatch(services: Services) -> None:
    dispatcher = Dispatcher(services.database, services.clock, services.notify, REACTIONS)
    while await dispatcher.run():
        pass


async def read_all(feed: Feed, account_id: int, position: int = 0) -> list[Any]:
    found: list[Any] = []
    while page := await feed.read(account_id, position):
        found += page
        position = page[-1].id
    return found


async def test_a_live_update_has_a_kind_and_the_ids_of_its_message_and_contact(services: Services, account: Opened):
    names = ["new_message", "message_sent", "message_delivered", "message_failed", "new_conversation"]
    for number, name in enumerate([*names, "conversation_changed", "new_contact"], 1):
        payload = {"id": number} if name == "new_message" else {"message_id": number}
        await record(services, account.account_id, name, 7, payload)

    await dispatch(services)

    updates = await read_all(services.feed, account.account_id)
    assert [update.kind for update in updates] == [
        UpdateKind.new_message,
        *[UpdateKind.message_status] * 3,
        *[UpdateKind.conversation_changed] * 2,
    ]
    assert [update.message_id for update in updates][:4] == [1, 2, 3, 4]
    assert {update.contact_id for update in updates} == {7}
    assert [update.id for update in updates] == [1, 2, 3, 4, 5, 6]


async def test_an_event_is_not_shown_before_it_is_dispatched(services: Services, account: Opened):
    await record_many(services, account.account_id, 1)

    before = await read_all(services.feed, account.account_id)
    await dispatch(services)

    assert (len(before), len(await read_all(services.feed, account.account_id))) == (0, 1)


async def test_a_page_is_followed_by_the_next(services: Services, account: Opened):
    await record_many(services, account.account_id, 2 * PAGE + 1)
    await dispatch(services)

    updates = await read_all(services.feed, account.account_id)

    assert len(await services.feed.read(account.account_id, 0)) == PAGE
    assert [update.contact_id for update in updates] == list(range(1, 2 * PAGE + 2))


async def test_reading_begins_behind_all_there_is_or_where_it_is_told(services: Services, account: Opened):
    feed = services.feed
    empty = await feed.start(account.account_id, None)
    await record_many(services, account.account_id, 3)
    await dispatch(services)
    ids = [update.id for update in await read_all(feed, account.account_id)]

    starts = [await feed.start(account.account_id, after) for after in (None, 0, *ids)]

    assert empty == 0
    assert starts == [ids[-1], 0, *ids]


@pytest.mark.parametrize("missed", [MAX_MISSED, MAX_MISSED + 1])
async def test_a_thousand_can_be_replayed_and_not_one_more(services: Services, account: Opened, missed: int):
    await record_many(services, account.account_id, missed)
    await dispatch(services)

    try:
        replayed = await services.feed.start(account.account_id, 0) == 0
    except UpdatesMissed:
        replayed = False

    assert replayed is (missed == MAX_MISSED)


@pytest.mark.parametrize("ahead", [1, 2**62])
async def test_an_id_ahead_of_all_is_refused(services: Services, account: Opened, ahead: int):
    await record_many(services, account.account_id, 1)
    await dispatch(services)
    newest = await services.feed.start(account.account_id, None)

    with pytest.raises(UpdatesMissed):
        await services.feed.start(account.account_id, min(newest + ahead, 2**63 - 1))


async def test_updates_are_kept_for_a_day_and_the_newest_for_ever(services: Services, account: Opened):
    pool, feed = services.database.pool, services.feed
    for age in (25, 25, 23):
        await record_many(services, account.account_id, 1)
        await dispatch(services)
        await LIVE_UPDATES.where(position=await feed.start(account.account_id, None)).age(pool, "created_at", hours=age)

    await retention.apply(RULES, pool, services.clock.now())
    left = [update.id for update in await read_all(feed, account.account_id)]
    with pytest.raises(UpdatesMissed):
        await feed.start(account.account_id, 1)
    known = await feed.start(account.account_id, 2)
    await LIVE_UPDATES.age(pool, "created_at", hours=24)
    await retention.apply(RULES, pool, services.clock.now())
    await record_many(services, account.account_id, 1)
    await dispatch(services)

    assert (left, known) == ([3], 2)
    assert [update.id for update in await feed.read(account.account_id, 2)] == [3, 4]


@pytest.mark.parametrize("seed", range(5))
async def test_readers_see_everything_once_however_transactions_end(services: Services, account: Opened, seed: int):
    chance, pool = random.Random(seed), services.database.pool
    steady, told, seen = 0, set[int](), list[int]()
    async with pool.acquire() as first, pool.acquire() as second:
        begun: dict[Any, Any] = {}
        for number in range(120):
            connection = chance.choice([first, second])
            if connection not in begun:
                begun[connection] = connection.transaction()
                await begun[connection].start()
            told.add(number)
            await record(connection, account.account_id, "conversation_changed", number)
            if chance.random() < 0.4:
                await begun.pop(connection).commit()
            if chance.random() < 0.3:
                await dispatch(services)
            if chance.random() < 0.3:
                for update in await read_all(services.feed, account.account_id, steady):
                    seen.append(update.contact_id)
                    steady = update.id
        for transaction in begun.values():
            await transaction.commit()
    await dispatch(services)
    seen += [update.contact_id for update in await read_all(services.feed, account.account_id, steady)]

    assert len(seen) == len(told)
    assert set(seen) == told
    assert seen != sorted(seen)


async def test_concurrent_streams_share_a_statement_and_each_reads_its_own_updates(
    services: Services, account: Opened, new_account: Callable[..., Any]
):
    other = await new_account()
    await record_many(services, account.account_id, 3)
    await record_many(services, other.account_id, 1)
    await dispatch(services)
    counting = CountingPool(services.database.pool)
    feed = Feed(cast("Pool", counting))
    whole, theirs = await feed.read(account.account_id, 0), await feed.read(other.account_id, 0)
    counting.statements = 0

    places = [(account.account_id, 0), (account.account_id, whole[0].id), (other.account_id, 0)]
    reads = await asyncio.gather(*(feed.read(*place) for place in places * 50))

    assert counting.statements == 1
    assert reads == [whole, whole[1:], theirs] * 50
