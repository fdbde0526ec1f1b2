"""The delivery engine: order, leases, wake-ups, and what it does when something breaks."""

import asyncio
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest
from aiohttp import web
from standardwebhooks import Webhook

from app.db.engine import Pool
from app.domain.kernel.sealing import Seal
from app.domain.webhooks import leases, pump, records
from app.domain.webhooks.dispatcher import FIND_EVENTS
from app.domain.webhooks.engine import Engine
from app.domain.webhooks.records import Recorder
from app.providers.outbound.addresses import LOOPBACK
from app.providers.outbound.client import WebhookPoster
from tests.domain.books import until_blocked
from tests.domain.webhooks.receivers import Post, status, until
from tests.domain.webhooks.stages import Stage


def stages(posts: list[Post]) -> list[str]:
    return [post.body["new_stage"] for post in posts]


class Held:
    """Answers nothing until it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def __call__(self, _: Post) -> web.Response:
        await self.go.wait()
        return web.Response()


class HeldFor(Held):
    """Holds the posts of one contact only."""

    def __init__(self, contact_id: int) -> None:
        super().__init__()
        self._contact_id = contact_id

    async def __call__(self, post: Post) -> web.Response:
        return await super().__call__(post) if post.body["contact_id"] == self._contact_id else web.Response()


async def test_a_delivery_is_signed_and_carries_its_event_and_attempt(working: Stage) -> None:
    subscription = await working.subscribe()
    await working.tell("won")

    [post] = await working.receiver.expect(1)

    secret = working.services.webhooks.seal.open(subscription.secret)
    assert Webhook(secret).verify(post.raw, post.headers) == post.body
    assert post.body["new_stage"] == "won"
    sent = {name: post.headers[name] for name in ("content-type", "user-agent", "webhook-event", "webhook-attempt")}
    assert sent == {
        "content-type": "application/json",
        "user-agent": "messaging-webhooks/0.1.0",
        "webhook-event": "pipeline_stage_changed",
        "webhook-attempt": "1",
    }
    assert "webhook-test" not in post.headers
    await until(lambda: working.are_all("delivered"))


async def test_an_attempt_is_kept_with_what_was_answered(working: Stage) -> None:
    working.receiver.respond = lambda _: web.Response(body=b"x\x00" * 5000, headers={"X-Trace": "7"})
    await working.subscribe()
    await working.tell("won")

    await until(lambda: working.are_all("delivered"))

    [attempt] = await working.pool.fetch("SELECT * FROM webhook_attempts")
    assert (attempt["number"], attempt["status"], attempt["error"], attempt["address"]) == (1, 200, "", "127.0.0.1")
    assert attempt["headers"]["x-trace"] == "7"
    assert attempt["body"] == "x" * 1024
    assert attempt["seconds"] > 0


async def test_first_attempts_for_one_contact_go_out_in_the_order_of_the_events(working: Stage) -> None:
    async def reluctantly(post: Post) -> web.Response:
        await asyncio.sleep(int(post.id[-1], 16) % 5 / 1000)
        return web.Response()

    working.receiver.respond = reluctantly
    await working.subscribe()
    for number in range(30):
        for contact in (1, 2, 3):
            await working.tell(f"{number:02}", contact_id=contact)

    posts = await working.receiver.expect(90)

    for contact in (1, 2, 3):
        assert stages([post for post in posts if post.body["contact_id"] == contact]) == [f"{n:02}" for n in range(30)]


async def test_first_attempts_keep_their_order_when_this_process_is_held_up_while_it_connects(stage: Stage) -> None:
    loop, hold_up = asyncio.get_running_loop(), iter([lambda: time.sleep(0.6)])
    impatient = WebhookPoster(allow_http=True, allow_networks=LOOPBACK, connect_timeout=0.3)
    means = replace(
        stage.engine.desk.means, poster=impatient, watch=lambda _: [loop.call_soon(each) for each in hold_up]
    )
    await stage.subscribe()
    await stage.tell("contacted", "won")
    async with stage.at_work(Engine.of(means)):
        await until(lambda: stage.are_all("delivered"))
    await impatient.close()

    assert [(post.body["new_stage"], post.attempt) for post in stage.receiver.posts] == [("contacted", 1), ("won", 1)]


async def test_an_event_that_fails_does_not_hold_up_what_comes_after_it(working: Stage) -> None:
    working.receiver.respond = lambda post: web.Response(status=500 if post.body["new_stage"] == "bad" else 200)
    await working.subscribe()
    await working.tell("bad", "good")

    await working.receiver.expect(3)

    assert stages(working.receiver.posts)[:3] == ["bad", "good", "bad"]


async def test_contacts_are_delivered_side_by_side_eight_at_most(working: Stage) -> None:
    working.receiver.respond = held = Held()
    await working.subscribe()
    for contact in range(20):
        await working.tell("won", contact_id=contact)

    await working.receiver.expect(8)
    most = working.receiver.busy
    held.go.set()
    await until(lambda: working.are_all("delivered"))

    assert most == working.receiver.most == 8
    assert len(working.receiver.posts) == 20


async def test_an_endpoint_that_does_not_answer_holds_up_no_other(working: Stage) -> None:
    held = Held()
    working.receiver.respond = lambda post: held(post) if post.path == "/slow" else web.Response()
    await working.subscribe("/slow")
    await working.subscribe("/quick")
    await working.tell("won")
    await working.receiver.expect(1, "/slow")

    await working.tell("lost")

    assert stages(await working.receiver.expect(2, "/quick")) == ["won", "lost"]
    held.go.set()


async def test_what_comes_while_a_post_hangs_is_delivered_meanwhile(working: Stage) -> None:
    held = Held()
    working.receiver.respond = lambda post: held(post) if post.body["contact_id"] == 1 else web.Response()
    await working.subscribe()
    await working.tell("hangs", contact_id=1)
    await working.receiver.expect(1)

    await working.tell("goes", contact_id=2)

    assert stages(await working.receiver.expect(2)) == ["hangs", "goes"]
    assert working.receiver.busy == 1
    held.go.set()


async def test_many_engines_deliver_each_event_once(stage: Stage) -> None:
    for path in ("/1", "/2", "/3"):
        await stage.subscribe(path)
    async with stage.at_work(), stage.at_work(stage.another()), stage.at_work(stage.another()):
        for contact in range(40):
            await stage.tell("won", contact_id=contact)
        await stage.receiver.expect(120)

    assert len({(post.path, post.id) for post in stage.receiver.posts}) == len(stage.receiver.posts) == 120


async def test_a_subscription_at_rest_is_free_and_wakes_for_the_next_event(working: Stage) -> None:
    subscription = await working.subscribe()
    await working.tell("contacted")
    await working.receiver.expect(1)
    await until(lambda: working.is_at_rest())
    row = await working.subscription(subscription.id)

    await working.tell("won")

    assert (row["leased_until"], row["wake_at"]) == (None, None)
    assert stages(await working.receiver.expect(2)) == ["contacted", "won"]


async def test_what_is_dispatched_while_a_subscription_is_given_back_is_not_forgotten(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("contacted")
    await stage.dispatcher.run()
    [taken] = await stage.engine.desk.leases.take(1, [])
    await stage.pool.execute("UPDATE webhook_deliveries SET status = 'delivered'")
    await stage.tell("won")

    async with stage.pool.acquire() as connection, connection.transaction():
        await stage.dispatcher._fan_out(connection, await connection.fetch(FIND_EVENTS, 10))
        working = pump.Pump(stage.engine.desk, taken, stopping=True)
        releasing = asyncio.create_task(stage.engine.desk.leases.release(taken, working.health))
        await until_blocked(stage.pool)
    await releasing

    row = await stage.subscription(subscription.id)
    assert row["leased_until"] is None
    assert row["wake_at"] is not None
    assert await stage.engine.due()


async def test_a_renewal_that_comes_after_a_subscription_was_given_back_does_not_keep_it(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    [taken] = await stage.engine.desk.leases.take(1, [])
    await stage.engine.desk.leases.release(taken, pump.Pump(stage.engine.desk, taken, stopping=True).health)

    assert await stage.engine.desk.leases.renew([taken], [None]) == {}

    assert (await stage.subscription(subscription.id))["leased_until"] is None
    assert await stage.engine.due()


async def test_the_work_of_an_engine_that_died_is_taken_up_when_its_lease_ends(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    stage.pace(lease=0.3)
    await stage.engine.desk.leases.take(1, [])

    early = await stage.engine.due()
    async with stage.at_work():
        await stage.receiver.expect(1)

    assert not early
    assert await stage.states() == [("delivered", 1)]


async def test_who_takes_over_from_one_that_died_begins_with_two_lanes_and_opens_one_after_every_sixteen_attempts(
    stage: Stage,
) -> None:
    first, last, crowds = Held(), Held(), list[int]()

    async def respond(post: Post) -> web.Response:
        crowds.append(stage.receiver.busy)
        if len(crowds) <= 2:
            return await first(post)
        return await last(post) if len(crowds) > 48 else web.Response()

    stage.receiver.respond = respond
    await stage.subscribe()
    for contact in range(60):
        await stage.tell("won", contact_id=contact)
    await stage.dispatcher.run()
    await stage.engine.desk.leases.take(1, [])
    await stage.pool.execute("UPDATE webhook_subscriptions SET leased_until = now() - interval '1 second'")

    async with stage.at_work():
        await stage.receiver.expect(2)
        first.go.set()
        await stage.receiver.expect(48 + 5)
        last.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert crowds[:2] == [1, 2]
    assert max(crowds) == 5
    assert all(crowd <= 2 + before // 16 for before, crowd in enumerate(crowds))


async def test_a_lease_is_renewed_while_a_post_takes_long(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("won")
    stage.pace(lease=0.3)
    async with stage.at_work():
        await stage.receiver.expect(1)
        before = await stage.pool.fetchval("SELECT leased_until FROM webhook_subscriptions")
        await until(lambda: is_later(stage.pool, before))
        taken = await stage.another().desk.leases.take(1, [])
        held.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert taken == []
    assert len(stage.receiver.posts) == 1


async def is_later(pool: Pool, than: datetime) -> bool:
    return await pool.fetchval("SELECT leased_until FROM webhook_subscriptions") > than + timedelta(seconds=0.3)


async def test_who_has_lost_the_lease_begins_nothing_more_and_changes_nothing(stage: Stage) -> None:
    stage.pace(lease=60)
    stage.receiver.respond = held = Held()
    subscription = await stage.subscribe()
    await stage.tell("contacted", "won")
    await stage.dispatcher.run()
    await stage.engine.run()
    await stage.receiver.expect(1)
    await stage.pool.execute("UPDATE webhook_subscriptions SET lease = lease + 1")
    before = await stage.subscription(subscription.id)

    held.go.set()
    await until(lambda: not stage.engine._pumps)
    await stage.engine.finish()

    assert await stage.states() == [("delivered", 1), ("pending", 0)]
    assert stages(stage.receiver.posts) == ["contacted"]
    assert await stage.subscription(subscription.id) == before


async def test_an_engine_does_not_take_again_what_it_works_for(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await stage.pool.execute("UPDATE webhook_subscriptions SET leased_until = '2000-01-01'")
        await stage.engine.run()
        held.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert len(stage.receiver.posts) == 1


class Gated:
    """A pool that keeps the answer to the first use of a statement until it is let through."""

    def __init__(self, pool: Pool, statement: str) -> None:
        self._pool, self._statement = pool, statement
        self.kept, self.go = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    async def fetch(self, query: str, *args: Any) -> Any:
        rows = await self._pool.fetch(query, *args)
        if query == self._statement and not self.kept.is_set():
            self.kept.set()
            await self.go.wait()
        return rows


async def test_one_lane_does_not_take_what_another_is_about_to_work_for(stage: Stage) -> None:
    subscription = await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    gate = Gated(stage.pool, leases.LEASE)
    slow = with_parts(stage.engine, leases=replace(stage.engine.desk.leases, pool=gate))
    lanes = [asyncio.create_task(slow.run())]
    await gate.kept.wait()
    await stage.pool.execute("UPDATE webhook_subscriptions SET leased_until = '2000-01-01'")
    lanes.append(asyncio.create_task(slow.run()))
    asyncio.get_running_loop().call_later(0.2, gate.go.set)

    await asyncio.gather(*lanes)
    await slow.finish()

    assert (await stage.subscription(subscription.id))["lease"] == 1


async def test_what_is_leased_while_an_engine_stops_is_given_back_undelivered(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    gate = Gated(stage.pool, leases.LEASE)
    stopping = with_parts(stage.engine, leases=replace(stage.engine.desk.leases, pool=gate))
    leasing = asyncio.create_task(stopping.run())
    await gate.kept.wait()
    finishing = asyncio.create_task(stopping.finish())
    await asyncio.wait({finishing}, timeout=0.1)
    gate.go.set()

    await finishing

    assert await stage.is_at_rest()
    assert (await leasing, await stopping.run()) == (False, False)
    assert await stage.is_at_rest()
    assert stage.receiver.posts == []


async def test_a_result_waits_for_no_other_that_is_being_written(stage: Stage) -> None:
    await stage.subscribe()
    await stage.tell("contacted", contact_id=1)
    await stage.tell("won", contact_id=2)
    await stage.dispatcher.run()
    gate = Gated(stage.pool, records.RECORD)
    stage.receiver.respond = held = HeldFor(2)
    async with stage.at_work(with_parts(stage.engine, recorder=Recorder(gate))):
        await gate.kept.wait()
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
        await connection.execute("SELECT FROM webhook_deliveries FOR UPDATE")
        await stage.engine.run()
        await stage.receiver.expect(1)
        await until_blocked(stage.pool)
        stopping = asyncio.create_task(stage.engine.finish())
        await asyncio.sleep(0)
        stopping.cancel()
    await asyncio.wait({stopping})

    assert await stage.states() == [("delivered", 1)]
    assert await stage.is_at_rest()


class Flaky:
    """A pool whose statement fails a number of times with an error."""

    def __init__(self, pool: Pool, statement: str, error: Exception, times: int) -> None:
        self._pool, self._statement, self._error, self.left = pool, statement, error, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    async def fetch(self, query: str, *args: Any) -> Any:
        if query == self._statement and self.left:
            self.left -= 1
            raise self._error
        return await self._pool.fetch(query, *args)


def with_parts(engine: Engine, **parts: Any) -> Engine:
    return Engine(replace(engine.desk, **parts))


async def test_a_result_waits_for_the_database_and_nothing_is_sent_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "REST_SECONDS", 0.01)
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
        open_until = await stage.pool.fetchval("SELECT open_until FROM webhook_subscriptions")

    assert open_until is not None
    assert await stage.states() == [("pending", 0)]
    assert len(stage.receiver.posts) == 1
    assert [context["message"] for context in told] == [f"deliveries of webhook {subscription.id} stopped"]


async def test_a_secret_that_cannot_be_opened_stops_its_own_subscription_only(stage: Stage) -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
    locked, readable = await stage.subscribe("/locked"), await stage.subscribe("/readable")
    sealed = Seal(b"another key of 32 bytes, as long").close("whsec_AAAA")
    await stage.pool.execute("UPDATE webhook_subscriptions SET secret = $1 WHERE id = $2", sealed, locked.id)
    await stage.tell("won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await until(lambda: bool(told))

    assert [post.path for post in stage.receiver.posts] == ["/readable"]
    assert told[0]["message"] == f"deliveries of webhook {locked.id} stopped"
    assert readable.id != locked.id


async def test_a_lease_that_cannot_be_renewed_ends_and_its_holder_begins_nothing_more(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("contacted", "won")
    stage.pace(lease=0.3)
    away = Flaky(stage.pool, leases.RENEW, asyncpg.PostgresConnectionError("gone"), times=1000)
    cut_off = with_parts(stage.engine, leases=replace(stage.engine.desk.leases, pool=away))
    await stage.dispatcher.run()
    await cut_off.run()
    await stage.receiver.expect(1)
    [working] = cut_off._pumps
    await until(lambda: working.leased_until <= stage.engine.desk.means.clock.now())

    held.go.set()
    await until(lambda: not cut_off._pumps)
    await cut_off.finish()

    assert stages(stage.receiver.posts) == ["contacted"]
    assert await stage.states() == [("delivered", 1), ("pending", 0)]


async def test_when_no_place_is_free_the_one_worked_for_longest_makes_room(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.domain.webhooks.engine.PUMPS", 1)
    monkeypatch.setattr("app.domain.webhooks.engine.TURN_SECONDS", 0.05)
    held = Held()
    stage.receiver.respond = lambda post: held(post) if post.path == "/busy" else web.Response()
    await stage.subscribe("/busy")
    await stage.tell("contacted", "won")
    async with stage.at_work():
        await stage.receiver.expect(1, "/busy")
        await stage.subscribe("/waiting")
        await stage.tell("lost", contact_id=2)
        await until(lambda: stage.engine.due())
        held.go.set()
        await stage.receiver.expect(1, "/waiting")
        await stage.receiver.expect(3, "/busy")


async def test_posts_under_way_are_counted(stage: Stage) -> None:
    counted: list[int] = []
    watched = Engine.of(replace(stage.engine.desk.means, watch=counted.append))
    await stage.subscribe()
    await stage.tell("contacted", "won")
    async with stage.at_work(watched):
        await until(lambda: stage.are_all("delivered"))

    assert counted == [1, -1, 1, -1]


async def test_what_was_delivered_while_its_subscription_was_disabled_is_not_kept_for_replay(stage: Stage) -> None:
    stage.receiver.respond = held = Held()
    await stage.subscribe()
    await stage.tell("contacted", "won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await stage.pool.execute("UPDATE webhook_subscriptions SET status = 'disabled', revision = revision + 1")
        await stage.pool.execute("UPDATE webhook_deliveries SET status = 'skipped', next_attempt_at = NULL")
        held.go.set()
        await until(lambda: stage.is_at_rest())

    assert await stage.states() == [("delivered", 1), ("skipped", 0)]


async def test_an_answer_with_any_status_but_2xx_is_a_failure(stage: Stage) -> None:
    await stage.subscribe()
    codes = iter([301, 302, 404, 400])
    stage.receiver.respond = lambda post: status(next(codes, 204), location=stage.receiver.url)(post)
    await stage.tell("won")
    async with stage.at_work():
        await until(lambda: stage.are_all("delivered"))

    assert [post.attempt for post in stage.receiver.posts] == [1, 2, 3, 4, 5]
    assert len({post.id for post in stage.receiver.posts}) == 1
    assert len({post.raw for post in stage.receiver.posts}) == 1


async def test_what_waits_for_a_place_when_the_breaker_opens_is_not_attempted(stage: Stage) -> None:
    stage.pace(breaker_failures=1, breaker_waits=(60,), waits=(60,))
    stage.receiver.respond = status(500)
    await stage.subscribe()
    for contact in range(5):
        await stage.tell("won", contact_id=contact)
    await stage.dispatcher.run()
    async with stage.at_work(with_parts(stage.engine, places=asyncio.Semaphore(1))):
        await stage.receiver.expect(1)
        await until(stage.is_at_rest)

    assert [attempts for _, attempts in await stage.states()] == [1, 0, 0, 0, 0]
    assert len(stage.receiver.posts) == 1


async def test_a_breaker_that_half_opens_while_posts_hang_lets_nothing_else_through(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pump, "LOOK_AGAIN_SECONDS", 0.01)
    stage.pace(breaker_failures=1, breaker_waits=(0.05,), waits=(60,))
    held = Held()
    stage.receiver.respond = lambda post: web.Response(status=500) if post.body["contact_id"] == 0 else held(post)
    await stage.subscribe()
    for contact in range(16):
        await stage.tell("won", contact_id=contact)
    await stage.dispatcher.run()
    async with stage.at_work():
        await stage.receiver.expect(8)
        await asyncio.sleep(0.3)
        meanwhile = len(stage.receiver.posts)
        held.go.set()
        await stage.receiver.expect(16)

    assert meanwhile == 8
