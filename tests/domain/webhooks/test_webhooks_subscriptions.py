"""Changing, rotating, testing, replaying, ending: what the account does takes effect at once."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

from app.domain.contacts import service as contacts
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.domain.webhooks import queries, replays, service
from app.domain.webhooks.models import DeliveryStatus
from tests.conftest import unit_of
from tests.domain.webhooks.endpoints import delivery_ids, endpoint, has, is_open, secret
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post
from tests.factories.tables import ago
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS, multiply_subscription
from tests.waiting import until, within


class Holding:
    """Holds the first post until it is let go; what comes after it is answered at once."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.first = True

    async def __call__(self, _: Post) -> web.Response:
        if self.first:
            self.first = False
            await within("the test to let it go on", self.go.wait())
        return web.Response()


async def test_a_new_address_is_used_for_the_next_post(harness: Harness) -> None:
    harness.receiver.respond = held = Holding()
    subscription = await harness.subscribe("/old")
    await harness.tell("contacted", "qualified", "won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        await harness.update(subscription.id, target_url=f"{harness.receiver.url}/new")
        held.go.set()
        await until(lambda: harness.are_all("delivered"))

    assert [(post.path, post.body["new_stage"]) for post in harness.receiver.posts] == [
        ("/old", "contacted"),
        ("/new", "qualified"),
        ("/new", "won"),
    ]


async def test_a_new_address_is_not_blamed_for_the_old_one(harness: Harness) -> None:
    harness.pace(breaker_waits=(60,), waits=(0,) * 20)
    harness.receiver.respond = lambda post: web.Response(status=500 if post.path == "/old" else 200)
    subscription = await harness.subscribe("/old")
    await harness.tell(*["won"] * 10)
    async with harness.at_work():
        await until(lambda: is_open(harness, subscription.id))
        await harness.update(subscription.id, target_url=f"{harness.receiver.url}/new")
        await until(lambda: harness.are_all("delivered"))

    row = await harness.subscription(subscription.id)
    assert (row["failures"], row["open_until"], row["failing_since"]) == (0, None, None)


async def test_failures_at_the_old_address_do_not_count_against_the_new_one(harness: Harness) -> None:
    harness.pace(breaker_waits=(60,), waits=(60,))
    go = asyncio.Event()

    async def fail(post: Post) -> web.Response:
        await within("the test to let it go on", go.wait())
        return web.Response(status=500 if post.path == "/old" else 200)

    harness.receiver.respond = fail
    subscription = await harness.subscribe("/old")
    for contact in range(12):
        await harness.tell("won", contact_id=contact)
    await harness.dispatcher.run()
    async with harness.at_work():
        await harness.receiver.expect(8)
        await harness.update(subscription.id, target_url=f"{harness.receiver.url}/new")
        go.set()
        await harness.receiver.expect(4, "/new")
        await until(harness.is_at_rest)

    row = await harness.subscription(subscription.id)
    assert (row["failures"], row["trips"], row["open_until"]) == (0, 0, None)
    assert [state for state, _ in await harness.states()].count("delivered") == 4


async def test_a_disabled_webhook_receives_nothing_and_its_events_can_be_replayed(harness: Harness) -> None:
    harness.receiver.respond = held = Holding()
    subscription = await harness.subscribe()
    await harness.tell("contacted", "qualified")
    async with harness.at_work():
        await harness.receiver.expect(1)
        begun = harness.services.clock.now() - timedelta(minutes=1)
        await harness.update(subscription.id, active=False)
        held.go.set()
        await until(harness.is_at_rest)
        await harness.tell("won")
        await until(lambda: has(harness, "skipped", 2))
        before = len(harness.receiver.posts)
        await harness.update(subscription.id, active=True)
        async with harness.act() as unit:
            replay = await replays.replay_since(unit, subscription.id, DeliveryStatus.skipped, begun)
        await until(lambda: harness.are_all("delivered"))

    assert (before, len(replay.ids)) == (1, 2)
    assert [post.body["new_stage"] for post in harness.receiver.posts] == ["contacted", "qualified", "won"]


async def test_no_delivery_begins_after_unsubscribing(harness: Harness) -> None:
    harness.receiver.respond = held = Holding()
    subscription = await harness.subscribe()
    await harness.tell("contacted", "won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        await harness.unsubscribe(subscription.id)
        held.go.set()
        await until(harness.is_at_rest)
        await harness.tell("lost")
        await until(lambda: is_dispatched(harness))

    assert await harness.states() == [("delivered", 1), ("canceled", 0)]
    assert len(harness.receiver.posts) == 1


async def is_dispatched(harness: Harness) -> bool:
    return not await harness.dispatcher.due()


async def test_after_a_rotation_both_secrets_sign_until_the_old_one_runs_out(harness: Harness) -> None:
    subscription = await harness.subscribe()
    old = await secret(harness, subscription.id)
    async with harness.act() as unit:
        new, _ = await service.rotate_secret(unit, harness.services.webhooks, subscription.id)
    await harness.tell("contacted")
    async with harness.at_work():
        await harness.receiver.expect(1)
        await until(harness.is_at_rest)
        await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, old_secret_until=ago())
        await harness.tell("won")
        both, one = await harness.receiver.expect(2)

    assert await secret(harness, subscription.id) == new != old
    assert [Webhook(each).verify(both.raw, both.headers) for each in (old, new)] == [both.body] * 2
    assert Webhook(new).verify(one.raw, one.headers) == one.body
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(one.raw, one.headers)


async def test_a_rotation_without_overlap_ends_the_old_secret_for_the_next_post(harness: Harness) -> None:
    harness.receiver.respond = held = Holding()
    subscription = await harness.subscribe()
    old = await secret(harness, subscription.id)
    await harness.tell("contacted", "won")
    async with harness.at_work():
        await harness.receiver.expect(1)
        async with harness.act() as unit:
            new, _ = await service.rotate_secret(unit, harness.services.webhooks, subscription.id, overlap_hours=0)
        held.go.set()
        before, after = await harness.receiver.expect(2)

    assert Webhook(old).verify(before.raw, before.headers) == before.body
    assert Webhook(new).verify(after.raw, after.headers) == after.body
    assert " " not in after.headers["webhook-signature"]


@pytest.mark.parametrize("hours", [-1, 73])
async def test_an_overlap_of_other_than_0_to_72_hours_is_refused(harness: Harness, hours: int) -> None:
    subscription = await harness.subscribe()

    with pytest.raises(InvalidInput, match="overlap_hours must be from 0 to 72"):
        async with harness.act() as unit:
            await service.rotate_secret(unit, harness.services.webhooks, subscription.id, hours)


async def test_a_webhook_keeps_at_least_one_event_and_a_subscription_its_only_one(harness: Harness) -> None:
    webhook, hook = await endpoint(harness, "contact.created"), await harness.subscribe()

    with pytest.raises(InvalidInput, match="at least one event"):
        await harness.update(webhook.id, events=[])
    with pytest.raises(InvalidInput, match="keeps its one event"):
        await harness.update(hook.id, events=["contact.created"])

    await harness.update(webhook.id, events=["message.sent", "message.failed"])
    assert (await harness.subscription(webhook.id))["events"] == ["message_sent", "message_failed"]


async def test_an_account_cannot_reach_the_webhooks_of_another(
    harness: Harness, new_account: Callable[..., Any]
) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    [delivery] = await delivery_ids(harness)
    stranger: Opened = await new_account()
    ports = harness.services.webhooks

    for ask in (
        lambda unit: service.unsubscribe(unit, subscription.id),
        lambda unit: service.update_webhook(unit, ports, subscription.id, {"description": "Mine"}),
        lambda unit: service.rotate_secret(unit, ports, subscription.id),
        lambda unit: service.send_test(unit, subscription.id),
        lambda unit: replays.replay(unit, delivery),
        lambda unit: replays.replay_since(unit, subscription.id, DeliveryStatus.failed, unit.clock.now()),
        lambda unit: queries.get_subscription(unit, subscription.id),
        lambda unit: queries.get_delivery(unit, delivery),
    ):
        with pytest.raises(NotFound):
            async with unit_of(harness.services, Actor(stranger.account_id, frozenset())) as unit:
                await ask(unit)
    async with unit_of(harness.services, Actor(stranger.account_id, frozenset())) as unit:
        assert await queries.list_subscriptions(unit) == []
        assert await queries.find_attempts(unit, [delivery]) == []


async def test_an_account_has_at_most_200_subscriptions(harness: Harness) -> None:
    first = await harness.subscribe()
    await multiply_subscription(harness.pool, 200)

    with pytest.raises(Conflict, match="at most 200"):
        await harness.subscribe()

    await harness.unsubscribe(first.id)
    await harness.subscribe()


async def test_events_of_a_contact_are_not_delivered_after_its_erasure(harness: Harness) -> None:
    await harness.subscribe(event="new_contact")
    async with harness.act() as unit:
        ann = await contacts.create(unit, {"phone": "+12025550143", "first_name": "Ann"})
        bob = await contacts.create(unit, {"phone": "+12025550144", "first_name": "Bob"})
    await harness.dispatcher.run()
    async with harness.act() as unit:
        late = await contacts.create(unit, {"phone": "+12025550145", "first_name": "Late"})
    for erased in (ann, late):
        async with harness.act() as unit:
            await erasure.erase(unit, erased.id)
    async with harness.at_work():
        [post] = await harness.receiver.expect(1)

    assert (post.body["id"], post.body["first_name"]) == (bob.id, "Bob")
    left = await WEBHOOK_DELIVERIES.read(harness.pool, "contact_id", "status", "body")
    assert [(contact, status, body is None) for contact, status, body in left] == [
        (ann.id, "canceled", True),
        (bob.id, "delivered", False),
    ]
