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
from app.domain.webhooks import queries, service
from app.domain.webhooks.models import DeliveryStatus
from tests.conftest import unit_of
from tests.domain.webhooks.endpoints import delivery_ids, endpoint, has, is_open, secret
from tests.domain.webhooks.receivers import Post
from tests.domain.webhooks.stages import Stage
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


async def test_a_new_address_is_used_for_the_next_post(stage: Stage) -> None:
    stage.receiver.respond = held = Holding()
    subscription = await stage.subscribe("/old")
    await stage.tell("contacted", "qualified", "won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await stage.update(subscription.id, target_url=f"{stage.receiver.url}/new")
        held.go.set()
        await until(lambda: stage.are_all("delivered"))

    assert [(post.path, post.body["new_stage"]) for post in stage.receiver.posts] == [
        ("/old", "contacted"),
        ("/new", "qualified"),
        ("/new", "won"),
    ]


async def test_a_new_address_is_not_blamed_for_the_old_one(stage: Stage) -> None:
    stage.pace(breaker_waits=(60,), waits=(0,) * 20)
    stage.receiver.respond = lambda post: web.Response(status=500 if post.path == "/old" else 200)
    subscription = await stage.subscribe("/old")
    await stage.tell(*["won"] * 10)
    async with stage.at_work():
        await until(lambda: is_open(stage, subscription.id))
        await stage.update(subscription.id, target_url=f"{stage.receiver.url}/new")
        await until(lambda: stage.are_all("delivered"))

    row = await stage.subscription(subscription.id)
    assert (row["failures"], row["open_until"], row["failing_since"]) == (0, None, None)


async def test_what_fails_at_the_old_address_is_not_held_against_the_new_one(stage: Stage) -> None:
    stage.pace(breaker_waits=(60,), waits=(60,))
    go = asyncio.Event()

    async def fail(post: Post) -> web.Response:
        await within("the test to let it go on", go.wait())
        return web.Response(status=500 if post.path == "/old" else 200)

    stage.receiver.respond = fail
    subscription = await stage.subscribe("/old")
    for contact in range(12):
        await stage.tell("won", contact_id=contact)
    await stage.dispatcher.run()
    async with stage.at_work():
        await stage.receiver.expect(8)
        await stage.update(subscription.id, target_url=f"{stage.receiver.url}/new")
        go.set()
        await stage.receiver.expect(4, "/new")
        await until(stage.is_at_rest)

    row = await stage.subscription(subscription.id)
    assert (row["failures"], row["trips"], row["open_until"]) == (0, 0, None)
    assert [state for state, _ in await stage.states()].count("delivered") == 4


async def test_a_disabled_webhook_receives_nothing_and_its_events_can_be_replayed(stage: Stage) -> None:
    stage.receiver.respond = held = Holding()
    subscription = await stage.subscribe()
    await stage.tell("contacted", "qualified")
    async with stage.at_work():
        await stage.receiver.expect(1)
        begun = stage.services.clock.now() - timedelta(minutes=1)
        await stage.update(subscription.id, active=False)
        held.go.set()
        await until(stage.is_at_rest)
        await stage.tell("won")
        await until(lambda: has(stage, "skipped", 2))
        before = len(stage.receiver.posts)
        await stage.update(subscription.id, active=True)
        async with stage.act() as unit:
            replayed = await service.replay_since(unit, subscription.id, DeliveryStatus.skipped, begun)
        await until(lambda: stage.are_all("delivered"))

    assert (before, replayed) == (1, 2)
    assert [post.body["new_stage"] for post in stage.receiver.posts] == ["contacted", "qualified", "won"]


async def test_after_unsubscribing_nothing_more_is_begun(stage: Stage) -> None:
    stage.receiver.respond = held = Holding()
    subscription = await stage.subscribe()
    await stage.tell("contacted", "won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await stage.unsubscribe(subscription.id)
        held.go.set()
        await until(stage.is_at_rest)
        await stage.tell("lost")
        await until(lambda: is_dispatched(stage))

    assert await stage.states() == [("delivered", 1), ("canceled", 0)]
    assert len(stage.receiver.posts) == 1


async def is_dispatched(stage: Stage) -> bool:
    return not await stage.dispatcher.due()


async def test_after_a_rotation_both_secrets_sign_until_the_old_one_runs_out(stage: Stage) -> None:
    subscription = await stage.subscribe()
    old = await secret(stage, subscription.id)
    async with stage.act() as unit:
        new, _ = await service.rotate_secret(unit, stage.services.webhooks, subscription.id)
    await stage.tell("contacted")
    async with stage.at_work():
        await stage.receiver.expect(1)
        await until(stage.is_at_rest)
        await WEBHOOK_SUBSCRIPTIONS.change(stage.pool, old_secret_until=ago())
        await stage.tell("won")
        both, one = await stage.receiver.expect(2)

    assert await secret(stage, subscription.id) == new != old
    assert [Webhook(each).verify(both.raw, both.headers) for each in (old, new)] == [both.body] * 2
    assert Webhook(new).verify(one.raw, one.headers) == one.body
    with pytest.raises(WebhookVerificationError):
        Webhook(old).verify(one.raw, one.headers)


async def test_a_rotation_without_overlap_ends_the_old_secret_for_the_next_post(stage: Stage) -> None:
    stage.receiver.respond = held = Holding()
    subscription = await stage.subscribe()
    old = await secret(stage, subscription.id)
    await stage.tell("contacted", "won")
    async with stage.at_work():
        await stage.receiver.expect(1)
        async with stage.act() as unit:
            new, _ = await service.rotate_secret(unit, stage.services.webhooks, subscription.id, overlap_hours=0)
        held.go.set()
        before, after = await stage.receiver.expect(2)

    assert Webhook(old).verify(before.raw, before.headers) == before.body
    assert Webhook(new).verify(after.raw, after.headers) == after.body
    assert " " not in after.headers["webhook-signature"]


@pytest.mark.parametrize("hours", [-1, 73])
async def test_an_overlap_of_other_than_0_to_72_hours_is_refused(stage: Stage, hours: int) -> None:
    subscription = await stage.subscribe()

    with pytest.raises(InvalidInput, match="overlap_hours must be from 0 to 72"):
        async with stage.act() as unit:
            await service.rotate_secret(unit, stage.services.webhooks, subscription.id, hours)


async def test_a_webhook_keeps_at_least_one_event_and_a_subscription_its_only_one(stage: Stage) -> None:
    webhook, hook = await endpoint(stage, "contact.created"), await stage.subscribe()

    with pytest.raises(InvalidInput, match="at least one event"):
        await stage.update(webhook.id, events=[])
    with pytest.raises(InvalidInput, match="keeps its one event"):
        await stage.update(hook.id, events=["contact.created"])

    await stage.update(webhook.id, events=["message.sent", "message.failed"])
    assert (await stage.subscription(webhook.id))["events"] == ["message_sent", "message_failed"]


async def test_nobody_reaches_the_webhooks_of_another_account(stage: Stage, new_account: Callable[..., Any]) -> None:
    subscription = await stage.subscribe()
    await stage.tell("won")
    await stage.dispatcher.run()
    [delivery] = await delivery_ids(stage)
    stranger: Opened = await new_account()
    ports = stage.services.webhooks

    for ask in (
        lambda unit: service.unsubscribe(unit, subscription.id),
        lambda unit: service.update_webhook(unit, ports, subscription.id, {"description": "Mine"}),
        lambda unit: service.rotate_secret(unit, ports, subscription.id),
        lambda unit: service.send_test(unit, subscription.id),
        lambda unit: service.replay(unit, delivery),
        lambda unit: service.replay_since(unit, subscription.id, DeliveryStatus.failed, unit.clock.now()),
        lambda unit: queries.get_subscription(unit, subscription.id),
        lambda unit: queries.get_delivery(unit, delivery),
    ):
        with pytest.raises(NotFound):
            async with unit_of(stage.services, Actor(stranger.account_id, frozenset())) as unit:
                await ask(unit)
    async with unit_of(stage.services, Actor(stranger.account_id, frozenset())) as unit:
        assert await queries.list_subscriptions(unit) == []
        assert await queries.find_attempts(unit, [delivery]) == []


async def test_an_account_has_at_most_200_subscriptions(stage: Stage) -> None:
    first = await stage.subscribe()
    await multiply_subscription(stage.pool, 200)

    with pytest.raises(Conflict, match="at most 200"):
        await stage.subscribe()

    await stage.unsubscribe(first.id)
    await stage.subscribe()


async def test_what_was_told_of_a_contact_is_not_delivered_after_the_contact_was_erased(stage: Stage) -> None:
    await stage.subscribe(event="new_contact")
    async with stage.act() as unit:
        ann = await contacts.create(unit, {"phone": "+12025550143", "first_name": "Ann"})
        bob = await contacts.create(unit, {"phone": "+12025550144", "first_name": "Bob"})
    await stage.dispatcher.run()
    async with stage.act() as unit:
        late = await contacts.create(unit, {"phone": "+12025550145", "first_name": "Late"})
    for erased in (ann, late):
        async with stage.act() as unit:
            await erasure.erase(unit, erased.id)
    async with stage.at_work():
        [post] = await stage.receiver.expect(1)

    assert (post.body["id"], post.body["first_name"]) == (bob.id, "Bob")
    left = await WEBHOOK_DELIVERIES.read(stage.pool, "contact_id", "status", "body")
    assert [(contact, status, body is None) for contact, status, body in left] == [
        (ann.id, "canceled", True),
        (bob.id, "delivered", False),
    ]
