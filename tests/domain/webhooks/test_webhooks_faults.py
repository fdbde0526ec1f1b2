"""Deliveries of webhooks when the service is stopped, or something fails."""

import asyncio
from typing import Any

import asyncpg
import pytest
from aiohttp import web

from app.domain.kernel.sealing import Seal
from app.domain.webhooks import records
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.poster import Reply
from app.domain.webhooks.records import Recorder, Result
from tests.domain.webhooks.faults import Flaky, Gated, with_parts
from tests.domain.webhooks.harness import Harness, stages
from tests.domain.webhooks.receivers import Held, HeldFor
from tests.factories.traps import until_blocked
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS, add_delivery
from tests.waiting import PATIENCE_SECONDS, until, within


async def test_a_result_waits_for_no_other_that_is_being_written(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("contacted", contact_id=1)
    await harness.tell("won", contact_id=2)
    await harness.dispatcher.run()
    gate = Gated(harness.pool, records.RECORD)
    harness.receiver.respond = held = HeldFor(2)
    async with harness.at_work(with_parts(harness.engine, recorder=Recorder(gate))):
        await within("the statement to reach the gate", gate.kept.wait())
        held.go.set()
        await until(lambda: harness.are_all("delivered"))
        written_meanwhile = not gate.go.is_set()
        gate.go.set()

    assert written_meanwhile


@pytest.mark.parametrize("status", ["pending", "canceled"])
async def test_a_delivery_that_is_being_deleted_leaves_no_attempt(harness: Harness, status: str) -> None:
    subscription = await harness.subscribe()
    id = await add_delivery(harness.pool, harness.account.account_id, subscription.id, status=status)
    failed = Reply(error="closed"), harness.services.clock.now(), DeliveryStatus.failed, None
    result = Result(id, 1, *failed, records.Held(subscription.id, 0, 0))
    async with harness.pool.acquire() as connection, connection.transaction():
        await WEBHOOK_DELIVERIES.where(id=id).delete(connection)
        recording = asyncio.create_task(Recorder(harness.pool).record(result))
        await until_blocked(harness.pool)
    await within("the result to be recorded", recording)

    assert await WEBHOOK_ATTEMPTS.count(harness.pool) == 0


async def test_a_stopping_engine_finishes_deliveries_in_flight_and_begins_no_more(harness: Harness) -> None:
    harness.receiver.respond = held = Held()
    await harness.subscribe()
    await harness.tell("contacted", "won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        stopping = asyncio.create_task(harness.engine.finish())
        await asyncio.sleep(0)
        held.go.set()
        await stopping

    assert await harness.states() == [("delivered", 1), ("pending", 0)]
    assert len(harness.receiver.posts) == 1
    assert await harness.is_at_rest()
    assert await harness.engine.due()


async def test_a_post_that_takes_longer_than_the_stop_may_is_abandoned_and_made_again(harness: Harness) -> None:
    held = Held()
    harness.receiver.respond = lambda post: held(post) if len(harness.receiver.posts) == 1 else web.Response()
    await harness.subscribe()
    await harness.tell("won")
    loop = asyncio.get_running_loop()
    async with harness.at_work(grace=0.2):
        await harness.receiver.expect(1)
        begun = loop.time()
    seconds = loop.time() - begun
    after, freed = await harness.states(), await harness.is_at_rest()
    async with harness.at_work(harness.another()):
        posts = await harness.receiver.expect(2)
        await until(lambda: harness.are_all("delivered"))
    held.go.set()

    assert seconds < PATIENCE_SECONDS  # the post itself has twice as long
    assert (after, freed) == ([("pending", 0)], True)
    assert [post.attempt for post in posts] == [1, 1]
    assert posts[0].id == posts[1].id


async def test_the_result_of_a_post_is_recorded_even_when_the_stop_is_cut_short(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    async with harness.pool.acquire() as connection, connection.transaction():
        await harness.dispatcher.run()
        await WEBHOOK_DELIVERIES.lock(connection, "FOR UPDATE")
        await harness.engine.run()
        await harness.receiver.expect(1)
        await until_blocked(harness.pool)
        stopping = asyncio.create_task(harness.engine.finish())
        await asyncio.sleep(0)
        stopping.cancel()
    await within("stopping to end", asyncio.wait({stopping}))

    assert await harness.states() == [("delivered", 1)]
    assert await harness.is_at_rest()


async def test_a_result_waits_for_the_database_and_no_post_is_repeated(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "RETRY_SECONDS", 0.01)
    await harness.subscribe()
    await harness.tell("contacted", "won")
    away = Flaky(harness.pool, records.RECORD, asyncpg.PostgresConnectionError("gone"), times=5)
    async with harness.at_work(with_parts(harness.engine, recorder=Recorder(away))):
        await until(lambda: harness.are_all("delivered"))

    assert away.left == 0
    assert stages(harness.receiver.posts) == ["contacted", "won"]


async def test_a_result_that_a_defect_keeps_from_being_recorded_opens_the_breaker_and_is_reported(
    harness: Harness,
) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    subscription = await harness.subscribe()
    await harness.tell("won")
    broken = Flaky(harness.pool, records.RECORD, asyncpg.UndefinedTableError("no such table"), times=1)
    harness.pace(breaker_waits=(60,))
    async with harness.at_work(with_parts(harness.engine, recorder=Recorder(broken))):
        await harness.receiver.expect(1)
        await until(lambda: harness.is_at_rest())
        open_until = await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "open_until")

    assert open_until is not None
    assert await harness.states() == [("pending", 0)]
    assert len(harness.receiver.posts) == 1
    assert [context["message"] for context in told] == [f"deliveries of webhook {subscription.id} stopped"]


async def test_deliveries_that_cannot_be_read_while_the_database_is_away_open_no_breaker(harness: Harness) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    subscription = await harness.subscribe()
    await harness.tell("won")
    away: Any = Flaky(harness.pool, records.FIND_DUE, asyncpg.PostgresConnectionError("gone"), times=1)
    engine = with_parts(harness.engine, due=records.DueReader(away, harness.services.clock))
    async with harness.at_work(engine):
        await until(lambda: harness.are_all("delivered"))

    assert away.left == 0
    assert [context["message"] for context in told] == [f"deliveries of webhook {subscription.id} stopped"]
    assert await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "open_until", "failures") == (None, 0)
    assert len(harness.receiver.posts) == 1


async def test_a_secret_that_cannot_be_opened_stops_its_own_subscription_only(harness: Harness) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    locked, readable = await harness.subscribe("/locked"), await harness.subscribe("/readable")
    sealed = Seal(b"another key of 32 bytes, as long").close("whsec_AAAA")
    await WEBHOOK_SUBSCRIPTIONS.where(id=locked.id).change(harness.pool, secret=sealed)
    await harness.tell("won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        await until(lambda: bool(told))

    assert [post.path for post in harness.receiver.posts] == ["/readable"]
    assert told[0]["message"] == f"deliveries of webhook {locked.id} stopped"
    assert readable.id != locked.id


async def test_a_subscription_to_an_event_of_a_later_version_holds_up_no_other(harness: Harness) -> None:
    later = await harness.subscribe("/later")
    await harness.subscribe("/known")
    await harness.tell("won")
    await harness.dispatcher.run()
    await WEBHOOK_SUBSCRIPTIONS.where(id=later.id).change(harness.pool, kind="endpoint", events=["of_a_later_version"])
    reported = list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["message"]))
    async with harness.at_work():
        await harness.receiver.expect(1, "/known")
        await until(lambda: bool(reported))

    assert set(reported) == {f"deliveries of webhook {later.id} stopped"}
    assert [post.path for post in harness.receiver.posts] == ["/known"]
