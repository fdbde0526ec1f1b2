"""Deliveries of webhooks: their order, their shares, and the effects of answers."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks import Webhook

from app.domain.webhooks import delivery_worker, delivery_workers, records
from app.domain.webhooks.delivery_workers import DeliveryWorkers
from app.fair_queue import FairQueue
from app.providers.outbound.addresses import LOOPBACK
from app.providers.outbound.client import HttpClient
from tests.domain.webhooks.faults import Flaky, with_parts
from tests.domain.webhooks.harness import Harness, stages
from tests.domain.webhooks.receivers import Held, Post, status
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until


async def test_a_delivery_is_signed_and_carries_its_event_and_attempt(working: Harness) -> None:
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


async def test_an_attempt_is_kept_with_its_answer(working: Harness) -> None:
    working.receiver.respond = lambda _: web.Response(body=b"x\x00" * 5000, headers={"X-Trace": "7"})
    await working.subscribe()
    await working.tell("won")

    await until(lambda: working.are_all("delivered"))

    [attempt] = await WEBHOOK_ATTEMPTS.read(working.pool)
    assert (attempt["number"], attempt["status"], attempt["error"], attempt["address"]) == (1, 200, "", "127.0.0.1")
    assert attempt["headers"]["x-trace"] == "7"
    assert attempt["body"] == "x" * 1024
    assert attempt["seconds"] > 0


async def test_first_attempts_for_one_contact_go_out_in_the_order_of_the_events(working: Harness) -> None:
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


async def test_first_attempts_keep_their_order_when_this_process_is_held_up_while_it_connects(harness: Harness) -> None:
    loop, hold_up = asyncio.get_running_loop(), iter([lambda: time.sleep(0.6)])
    impatient = HttpClient(allow_http=True, allow_networks=LOOPBACK, connect_timeout=0.3)
    dependencies = replace(
        harness.engine.shared.dependencies, poster=impatient, watch=lambda _: [loop.call_soon(each) for each in hold_up]
    )
    await harness.subscribe()
    await harness.tell("contacted", "won")
    async with harness.at_work(DeliveryWorkers.of(dependencies)):
        await until(lambda: harness.are_all("delivered"))
    await impatient.close()

    assert [(post.body["new_stage"], post.attempt) for post in harness.receiver.posts] == [("contacted", 1), ("won", 1)]


async def test_an_event_that_fails_does_not_hold_up_later_ones(working: Harness) -> None:
    working.receiver.respond = lambda post: web.Response(status=500 if post.body["new_stage"] == "bad" else 200)
    await working.subscribe()
    await working.tell("bad", "good")

    await working.receiver.expect(3)

    assert stages(working.receiver.posts)[:3] == ["bad", "good", "bad"]


async def test_contacts_are_delivered_side_by_side_eight_at_most(working: Harness) -> None:
    working.receiver.respond = held = Held()
    await working.subscribe()
    for contact in range(20):
        await working.tell("won", contact_id=contact)

    await working.receiver.expect(8)
    most = working.receiver.busy
    held.go.set()
    await working.receiver.expect(20)
    await until(lambda: working.are_all("delivered"))

    assert most == working.receiver.most == 8
    assert len(working.receiver.posts) == 20


async def test_an_endpoint_that_does_not_answer_holds_up_no_other(working: Harness) -> None:
    held = Held()
    working.receiver.respond = lambda post: held(post) if post.path == "/slow" else web.Response()
    await working.subscribe("/slow")
    await working.subscribe("/quick")
    await working.tell("won")
    await working.receiver.expect(1, "/slow")

    await working.tell("lost")

    assert stages(await working.receiver.expect(2, "/quick")) == ["won", "lost"]
    held.go.set()


async def test_an_event_is_delivered_while_an_earlier_post_hangs(working: Harness) -> None:
    held = Held()
    working.receiver.respond = lambda post: held(post) if post.body["contact_id"] == 1 else web.Response()
    await working.subscribe()
    await working.tell("hangs", contact_id=1)
    await working.receiver.expect(1)

    await working.tell("goes", contact_id=2)

    assert stages(await working.receiver.expect(2)) == ["hangs", "goes"]
    assert working.receiver.busy == 1
    held.go.set()


async def test_many_engines_deliver_each_event_once(harness: Harness) -> None:
    harness.pace(lease=60.0)
    for path in ("/1", "/2", "/3"):
        await harness.subscribe(path)
    async with harness.at_work(), harness.at_work(harness.another()), harness.at_work(harness.another()):
        for contact in range(40):
            await harness.tell("won", contact_id=contact)
        await harness.receiver.expect(120)

    assert len({(post.path, post.id) for post in harness.receiver.posts}) == len(harness.receiver.posts) == 120


async def test_deliveries_are_searched_no_more_while_some_are_held_that_a_search_found_to_be_the_last(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_worker, "SEARCH_PAUSE_SECONDS", 1000.0)
    harness.pace(lease=60.0)
    await harness.subscribe()
    for contact in range(20):
        await harness.tell("won", contact_id=contact)
    await harness.dispatcher.run()
    counting: Any = Flaky(harness.pool, records.FIND_DUE, OSError(), 0)
    parts = harness.engine.shared.dependencies
    counted = DeliveryWorkers.of(replace(parts, database=replace(parts.database, pool=counting)))
    async with harness.at_work(counted):
        await until(lambda: harness.are_all("delivered"))
        await until(lambda: harness.is_at_rest())

    assert counting.count == 2


async def test_a_busy_subscription_stays_leased_for_the_events_that_are_dispatched_next(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_worker, "EVENTS_WAIT_SECONDS", 1000.0)
    harness.pace(lease=60.0)
    harness.dispatcher = replace(harness.dispatcher, watchers=[harness.engine.tell])
    await harness.subscribe()
    for contact in range(delivery_worker.BUSY_AFTER):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        await harness.receiver.expect(delivery_worker.BUSY_AFTER)
        await harness.tell("lost", contact_id=1000)
        await harness.receiver.expect(delivery_worker.BUSY_AFTER + 1)

    assert await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "lease") == 1


async def test_a_busy_subscription_is_released_when_no_events_follow(harness: Harness) -> None:
    await harness.subscribe()
    for contact in range(delivery_worker.BUSY_AFTER):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        await harness.receiver.expect(delivery_worker.BUSY_AFTER)
        await until(lambda: harness.is_at_rest())

    assert await harness.are_all("delivered")


async def test_searches_that_begin_together_are_one_statement_and_keep_each_to_its_subscription(
    harness: Harness,
) -> None:
    for path in ("/1", "/2", "/3"):
        await harness.subscribe(path)
    await harness.tell("won", "lost")
    await harness.dispatcher.run()
    counting: Any = Flaky(harness.pool, records.FIND_DUE, OSError(), 0)
    leased = await harness.engine.shared.leases.take(3, [])
    held = [records.Held(each.id, each.lease, each.revision) for each in leased]
    reader = records.DueReader(counting, harness.services.clock)
    wanted = [
        records.Wanted(held[0], ["pipeline_stage_changed"], (), 1),
        records.Wanted(held[1], ["another_event", "pipeline_stage_changed"], (), 64),
        records.Wanted(held[2]._replace(revision=7), ["pipeline_stage_changed"], (), 64),
        records.Wanted(held[2], ["another_event"], (), 64),
    ]
    found = await asyncio.gather(*map(reader.find, wanted))
    kept = await reader.find(wanted[1]._replace(held_ids=[found[1][0].id]))

    assert [[due.subscription_id for due in each] for each in found] == [[held[0].id], [held[1].id] * 2, [], []]
    assert [due.id for due in kept] == [found[1][1].id]
    assert counting.count == 3


async def test_when_no_place_is_free_the_one_worked_for_longest_makes_room(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.domain.webhooks.delivery_workers.WORKERS", 1)
    monkeypatch.setattr("app.domain.webhooks.delivery_workers.TURN_SECONDS", 0.05)
    held = Held()
    harness.receiver.respond = lambda post: held(post) if post.path == "/busy" else web.Response()
    await harness.subscribe("/busy")
    await harness.tell("contacted", "won")
    async with harness.at_work():
        await harness.receiver.expect(1, "/busy")
        await harness.subscribe("/waiting")
        await harness.tell("lost", contact_id=2)
        await until(lambda: harness.engine.due())
        held.go.set()
        await harness.receiver.expect(1, "/waiting")
        await harness.receiver.expect(3, "/busy")


async def test_the_hanging_webhooks_of_one_account_leave_places_for_those_of_another(
    harness: Harness, new_account: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_workers, "PER_PROCESS", 3)
    monkeypatch.setattr(delivery_workers, "PER_ACCOUNT", 2)
    held, other = Held(), replace(harness, account=await new_account())
    harness.receiver.respond = lambda post: held(post) if post.path == "/hangs" else web.Response()
    await harness.subscribe("/hangs")
    await harness.subscribe("/hangs")
    await other.subscribe("/other")
    for contact in range(8):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work(harness.another()):
        await harness.receiver.expect(2, "/hangs")
        await other.tell("lost", "won", contact_id=9)
        await harness.receiver.expect(2, "/other")
        meanwhile = len(harness.receiver.to("/hangs"))
        held.go.set()
        await harness.receiver.expect(16, "/hangs")

    assert meanwhile == 2


async def test_posts_under_way_are_counted(harness: Harness) -> None:
    counted: list[int] = []
    watched = DeliveryWorkers.of(replace(harness.engine.shared.dependencies, watch=counted.append))
    await harness.subscribe()
    await harness.tell("contacted", "won")
    async with harness.at_work(watched):
        await until(lambda: harness.are_all("delivered"))

    assert counted == [1, -1, 1, -1]


async def test_an_event_delivered_while_its_subscription_was_disabled_is_not_kept_for_replay(harness: Harness) -> None:
    harness.receiver.respond = held = Held()
    await harness.subscribe()
    await harness.tell("contacted", "won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        revision = await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "revision") + 1
        await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, status="disabled", revision=revision)
        await WEBHOOK_DELIVERIES.change(harness.pool, status="skipped", next_attempt_at=None)
        held.go.set()
        await until(lambda: harness.is_at_rest())

    assert await harness.states() == [("delivered", 1), ("skipped", 0)]


async def test_an_answer_with_any_status_but_2xx_is_a_failure(harness: Harness) -> None:
    await harness.subscribe()
    codes = iter([301, 302, 404, 400])
    harness.receiver.respond = lambda post: status(next(codes, 204), location=harness.receiver.url)(post)
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: harness.are_all("delivered"))

    assert [post.attempt for post in harness.receiver.posts] == [1, 2, 3, 4, 5]
    assert len({post.id for post in harness.receiver.posts}) == 1
    assert len({post.raw for post in harness.receiver.posts}) == 1


async def test_a_delivery_that_waits_for_a_place_when_the_breaker_opens_is_not_attempted(harness: Harness) -> None:
    harness.pace(breaker_failures=1, breaker_waits=(60,), waits=(60,))
    harness.receiver.respond = status(500)
    await harness.subscribe()
    for contact in range(5):
        await harness.tell("won", contact_id=contact)
    await harness.dispatcher.run()
    async with harness.at_work(with_parts(harness.engine, places=FairQueue(1, 1, None))):
        await harness.receiver.expect(1)
        await until(harness.is_at_rest)

    assert [attempts for _, attempts in await harness.states()] == [1, 0, 0, 0, 0]
    assert len(harness.receiver.posts) == 1


async def test_a_breaker_that_half_opens_while_posts_hang_lets_no_other_post_through(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivery_worker, "LOOK_AGAIN_SECONDS", 0.01)
    harness.pace(breaker_failures=1, breaker_waits=(0.05,), waits=(60,))
    held = Held()

    async def fail_beside_others(_: Post) -> web.Response:
        await harness.receiver.expect(8)
        return web.Response(status=500)

    harness.receiver.respond = lambda post: held(post) if post.body["contact_id"] else fail_beside_others(post)
    await harness.subscribe()
    for contact in range(16):
        await harness.tell("won", contact_id=contact)
    await harness.dispatcher.run()
    async with harness.at_work():
        await harness.receiver.expect(8)
        await asyncio.sleep(0.3)
        meanwhile = len(harness.receiver.posts)
        held.go.set()
        await harness.receiver.expect(16)

    assert meanwhile == 8
