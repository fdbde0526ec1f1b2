"""The delivery engine when it is stopped, or something breaks."""

import asyncio
from dataclasses import replace
from typing import Any

import asyncpg
import pytest
from aiohttp import web

from app.domain.kernel.sealing import Seal
from app.domain.webhooks import records
from app.domain.webhooks.records import Recorder
from tests.domain.webhooks.faults import Flaky, Gated, with_parts
from tests.domain.webhooks.receivers import Held, HeldFor
from tests.domain.webhooks.stages import Stage, stages
from tests.factories.traps import until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until, within


async def test_a_result_waits_for_no_other_that_is_being_written(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("contacted", contact_id=1)
    await stage.tell("won", contact_id=2)
    await stage.dispatcher.run()
    gate = Gated(stage.pool, records.RECORD)
    stage.receiver.respond = held = HeldFor(2)
    async with stage.at_work(with_parts(stage.engine, recorder=Recorder(gate))):
        await within("the statement to reach the gate", gate.kept.wait())
        held.go.set()
        await until(lambda: stage.are_all("delivered"))
        written_meanwhile = not gate.go.is_set()
        gate.go.set()

    assert written_meanwhile


async def test_a_stopping_engine_finishes_what_is_under_way_and_begins_nothing_more(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("contacted", "won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        stopping = asyncio.create_task(stage.engine.finish())
        await asyncio.sleep(0)
        held.go.set()
        await stopping

    assert await stage.states() == [("delivered", 1), ("pending", 0)]
    assert len(stage.receiver.posts) == 1
    assert await stage.is_at_rest()
    assert await stage.engine.due()


async def test_a_post_that_takes_longer_than_the_stop_may_is_abandoned_and_made_again(stage: Stage) -> None:
    held = Held()
    stage.receiver.respond = lambda post: held(post) if len(stage.receiver.posts) == 1 else web.Response()
    await stage.subscribe()
    await stage.tell("won")
    loop = asyncio.get_running_loop()
    async with stage.at_work(grace=0.2):
        await stage.receiver.expect(1)
        begun = loop.time()
    seconds = loop.time() - begun
    after, freed = await stage.states(), await stage.is_at_rest()
    async with stage.at_work(stage.another()):
        posts = await stage.receiver.expect(2)
        await until(lambda: stage.are_all("delivered"))
    held.go.set()

    assert seconds < 5
    assert (after, freed) == ([("pending", 0)], True)
    assert [post.attempt for post in posts] == [1, 1]
    assert posts[0].id == posts[1].id


async def test_the_result_of_a_post_is_recorded_even_when_the_stop_is_cut_short(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    async with stage.pool.acquire() as connection, connection.transaction():
        await stage.dispatcher.run()
        await WEBHOOK_DELIVERIES.lock(connection, "FOR UPDATE")
        await stage.engine.run()
        await stage.receiver.expect(1)
        await until_blocked(stage.pool)
        stopping = asyncio.create_task(stage.engine.finish())
        await asyncio.sleep(0)
        stopping.cancel()
    await within("stopping to end", asyncio.wait({stopping}))

    assert await stage.states() == [("delivered", 1)]
    assert await stage.is_at_rest()


async def test_a_result_waits_for_the_database_and_nothing_is_sent_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "RETRY_SECONDS", 0.01)
    await stage.subscribe()
    await stage.tell("contacted", "won")
    away = Flaky(stage.pool, records.RECORD, asyncpg.PostgresConnectionError("gone"), times=5)
    async with stage.at_work(with_parts(stage.engine, recorder=Recorder(away))):
        await until(lambda: stage.are_all("delivered"))

    assert away.left == 0
    assert stages(stage.receiver.posts) == ["contacted", "won"]


async def test_what_cannot_be_recorded_for_a_defect_of_ours_opens_the_breaker_and_is_told(stage: Stage) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    subscription = await stage.subscribe()
    await stage.tell("won")
    broken = Flaky(stage.pool, records.RECORD, asyncpg.UndefinedTableError("no such table"), times=1)
    stage.pace(breaker_waits=(60,))
    async with stage.at_work(with_parts(stage.engine, recorder=Recorder(broken))):
        await stage.receiver.expect(1)
        await until(lambda: stage.is_at_rest())
        open_until = await WEBHOOK_SUBSCRIPTIONS.only(stage.pool, "open_until")

    assert open_until is not None
    assert await stage.states() == [("pending", 0)]
    assert len(stage.receiver.posts) == 1
    assert [context["message"] for context in told] == [f"deliveries of webhook {subscription.id} stopped"]


async def test_deliveries_that_cannot_be_read_while_the_database_is_away_open_no_breaker(stage: Stage) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    subscription = await stage.subscribe()
    await stage.tell("won")
    away: Any = Flaky(stage.pool, records.FIND_DUE, asyncpg.PostgresConnectionError("gone"), times=1)
    database = replace(stage.engine.shared.dependencies.database, pool=away)
    engine = with_parts(stage.engine, dependencies=replace(stage.engine.shared.dependencies, database=database))
    async with stage.at_work(engine):
        await until(lambda: stage.are_all("delivered"))

    assert away.left == 0
    assert [context["message"] for context in told] == [f"deliveries of webhook {subscription.id} stopped"]
    assert await WEBHOOK_SUBSCRIPTIONS.only(stage.pool, "open_until", "failures") == (None, 0)
    assert len(stage.receiver.posts) == 1


async def test_a_secret_that_cannot_be_opened_stops_its_own_subscription_only(stage: Stage) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    locked, readable = await stage.subscribe("/locked"), await stage.subscribe("/readable")
    sealed = Seal(b"another key of 32 bytes, as long").close("whsec_AAAA")
    await WEBHOOK_SUBSCRIPTIONS.where(id=locked.id).change(stage.pool, secret=sealed)
    await stage.tell("won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await until(lambda: bool(told))

    assert [post.path for post in stage.receiver.posts] == ["/readable"]
    assert told[0]["message"] == f"deliveries of webhook {locked.id} stopped"
    assert readable.id != locked.id
