"""Nothing is posted, or posted again, that neither the caller nor the webhook's creator may read."""

from datetime import timedelta
from typing import Any

import pytest

from app.domain.accounts import api_keys, users
from app.domain.accounts import service as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import Conflict, InsufficientScope
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor
from app.domain.webhooks import leftovers, queries, replays, service
from app.domain.webhooks.delivery_filter import DeliveryFilter
from app.domain.webhooks.leftovers import Leftovers
from app.domain.webhooks.models import DeliveryStatus, Subscription
from tests.conftest import unit_of
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.webhooks import WEBHOOK_DELIVERIES
from tests.waiting import until

TOPICS = ["message.inbound", "contact.created"]
MANAGE = frozenset({"webhooks:manage", "account:write", "contacts:read"})


@pytest.fixture
async def webhook(harness: Harness) -> Subscription:
    """Give a webhook that texts and contacts are told to, with a delivery of either that failed."""
    async with harness.act() as unit:
        url = f"{harness.receiver.url}/hook"
        made = await service.create_webhook(unit, harness.services.webhooks, url, TOPICS)
        for topic in TOPICS:
            delivery = await service.send_test(unit, made.id, topic)
            delivery.status, delivery.is_test, delivery.next_attempt_at = DeliveryStatus.failed, False, None
    return made


async def reader_of_contacts(harness: Harness) -> Actor:
    async with harness.act() as unit:
        key, _ = await api_keys.create_key(unit, harness.services.secret, NewKey("Contacts", scopes=sorted(MANAGE)))
    return Actor(harness.account.account_id, MANAGE, "contacts", key_id=key.id)


async def attempt(harness: Harness, actor: Actor, ask: Any) -> Any:
    async with unit_of(harness.services, actor) as unit:
        return await ask(unit)


async def names(harness: Harness) -> list[tuple[str, str]]:
    return await WEBHOOK_DELIVERIES.read(harness.pool, "event", "status")


async def test_a_webhook_turned_to_a_harmless_event_replays_no_texts(harness: Harness, webhook: Subscription) -> None:
    thief, ports = await reader_of_contacts(harness), harness.services.webhooks
    texts, _ = await WEBHOOK_DELIVERIES.read(harness.pool, "id")
    changes: Any = {"events": ["contact.created"], "target_url": f"{harness.receiver.url}/thief"}
    await attempt(harness, thief, lambda unit: service.update_webhook(unit, ports, webhook.id, changes))

    with pytest.raises(Conflict, match=r"no longer receives message\.inbound"):
        await attempt(harness, thief, lambda unit: replays.replay(unit, texts))
    since = harness.services.clock.now() - timedelta(days=1)
    replayed = await attempt(
        harness, thief, lambda unit: replays.replay_since(unit, webhook.id, DeliveryStatus.failed, since)
    )

    assert (len(replayed.ids), await names(harness)) == (
        1,
        [("message.inbound", "failed"), ("contact.created", "pending")],
    )


async def test_a_replay_leaves_out_events_that_the_creator_of_the_webhook_may_not_read(
    harness: Harness, webhook: Subscription
) -> None:
    thief, ports = await reader_of_contacts(harness), harness.services.webhooks
    changes: Any = {"events": ["contact.created"], "target_url": f"{harness.receiver.url}/thief"}
    await attempt(harness, thief, lambda unit: service.update_webhook(unit, ports, webhook.id, changes))
    since = harness.services.clock.now() - timedelta(days=1)

    async with harness.act() as unit:
        replayed = await replays.replay_since(unit, webhook.id, DeliveryStatus.failed, since)

    assert (len(replayed.ids), (await names(harness))[0]) == (1, ("message.inbound", "failed"))


async def test_an_actor_cannot_replay_redirect_or_take_over_a_webhook_of_events_it_may_not_read(
    harness: Harness, webhook: Subscription
) -> None:
    thief, ports = await reader_of_contacts(harness), harness.services.webhooks
    before = await harness.subscription(webhook.id)
    since = harness.services.clock.now() - timedelta(days=1)
    texts, _ = await WEBHOOK_DELIVERIES.read(harness.pool, "id")
    elsewhere: Any = {"target_url": f"{harness.receiver.url}/thief"}

    for ask in (
        lambda unit: replays.replay(unit, texts),
        lambda unit: replays.replay_since(unit, webhook.id, DeliveryStatus.failed, since),
        lambda unit: service.update_webhook(unit, ports, webhook.id, elsewhere),
        lambda unit: service.take_over(unit, webhook.id),
    ):
        with pytest.raises(InsufficientScope, match="messages:read"):
            await attempt(harness, thief, ask)

    assert await names(harness) == [("message.inbound", "failed"), ("contact.created", "failed")]
    assert dict(await harness.subscription(webhook.id)) == dict(before)


async def test_waiting_deliveries_of_a_removed_event_type_are_canceled(harness: Harness, webhook: Subscription) -> None:
    await WEBHOOK_DELIVERIES.change(harness.pool, status="pending", next_attempt_at=webhook.created_at)
    thief, ports = await reader_of_contacts(harness), harness.services.webhooks
    changes: Any = {"events": ["contact.created"], "target_url": f"{harness.receiver.url}/thief"}
    await attempt(harness, thief, lambda unit: service.update_webhook(unit, ports, webhook.id, changes))

    async with harness.at_work():
        [post] = await harness.receiver.expect(1)
        await until(harness.is_at_rest)

    assert (post.path, post.body["type"]) == ("/thief", "contact.created")
    assert await names(harness) == [("message.inbound", "canceled"), ("contact.created", "delivered")]


async def test_the_deliveries_of_an_event_that_is_left_out_are_canceled_after_the_change_in_chunks(
    harness: Harness, webhook: Subscription, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leftovers, "CHUNK", 2)
    first = {"subscription_id": webhook.id, "account_id": webhook.account_id, "webhook_id": "", "body": b"{}"}
    await WEBHOOK_DELIVERIES.delete(harness.pool)
    for event in ["message.inbound"] * 5 + ["contact.created"]:
        await WEBHOOK_DELIVERIES.insert(harness.pool, event=event, next_attempt_at=webhook.created_at, **first)

    await harness.update(webhook.id, events=["contact.created"])
    changed = [await statuses(harness)]
    job = Leftovers(harness.services.database)
    while await job.run():
        changed.append(await statuses(harness))

    assert [states.count("canceled") for states in changed] == [0, 2, 4]
    assert await statuses(harness) == ["canceled"] * 5 + ["pending"]
    assert not await job.due()


async def statuses(harness: Harness) -> list[str]:
    return await WEBHOOK_DELIVERIES.read(harness.pool, "status")


async def test_deliveries_are_listed_by_the_name_that_their_webhook_has(harness: Harness) -> None:
    ports, url = harness.services.webhooks, harness.receiver.url
    async with harness.act() as unit:
        await service.create_webhook(unit, ports, f"{url}/dotted", ["contact.created"])
        await service.subscribe(unit, ports, "new_contact", f"{url}/plain")
        await contacts.create(unit, {"phone": "+12025550143"})
    async with harness.at_work():
        posts = {post.path: post for post in await harness.receiver.expect(2)}
    async with harness.act() as unit:
        page = await queries.find_deliveries(unit, DeliveryFilter(), Window(50, None, 0))

    assert [delivery.event for delivery in page.nodes] == ["new_contact", "contact.created"]
    assert posts["/dotted"].headers["webhook-event"] == posts["/dotted"].body["type"] == "contact.created"
    assert posts["/plain"].headers["webhook-event"] == "new_contact"


@pytest.mark.parametrize("ends", ["a user", "a key", "a key of a user"])
async def test_waiting_deliveries_of_a_webhook_whose_creator_has_ended_are_not_retried(
    harness: Harness, ends: str
) -> None:
    harness.pace(waits=(0.01,) * 50, breaker_failures=1000)
    harness.receiver.respond = status(500)
    async with harness.act() as unit:
        bob = await accounts.add_user(unit, "bob@example.com", "seven green bicycles")
        user = Actor(bob.account_id, unit.actor.scopes, "user", user_id=bob.id)
    async with unit_of(harness.services, user) as unit:
        key, _ = await api_keys.create_key(unit, harness.services.secret, NewKey("Hooks", KeyKind.auto))
    creator = user if ends == "a user" else Actor(bob.account_id, user.scopes, "key", key_id=key.id)
    async with unit_of(harness.services, creator) as unit:
        url = f"{harness.receiver.url}/hook"
        made = await service.subscribe(unit, harness.services.webhooks, "pipeline_stage_changed", url)
    await harness.tell("won")
    await harness.dispatcher.run()
    async with harness.at_work():
        await harness.receiver.expect(2)
        async with harness.act() as unit:
            if ends == "a key":
                await api_keys.revoke_key(unit, key.id)
            else:
                await users.remove(unit, bob.id)
        await until(lambda: is_removed(harness, made.id))
        await until(harness.is_at_rest)
        posted = len(harness.receiver.posts)

    assert [state for state, _ in await harness.states()] == ["canceled"]
    assert len(harness.receiver.posts) == posted
    assert [kind for kind, _ in await harness.notices()] == ["removed"]


async def is_removed(harness: Harness, id: int) -> bool:
    return (await harness.subscription(id))["status"] == "removed"


async def test_a_delivery_that_waits_hours_for_its_next_attempt_is_never_made_once_the_key_is_revoked(
    harness: Harness,
) -> None:
    async with harness.act() as unit:
        key, _ = await api_keys.create_key(unit, harness.services.secret, NewKey("Hooks"))
    creator = Actor(harness.account.account_id, frozenset({"contacts:read", "webhooks:manage"}), "key", key_id=key.id)
    async with unit_of(harness.services, creator) as unit:
        url = f"{harness.receiver.url}/hook"
        await service.subscribe(unit, harness.services.webhooks, "pipeline_stage_changed", url)
    await harness.tell("won")
    await harness.dispatcher.run()
    async with harness.act() as unit:
        await api_keys.revoke_key(unit, key.id)

    async with harness.at_work():
        await until(lambda: harness.are_all("canceled"))

    assert harness.receiver.posts == []


async def test_a_webhook_that_an_owner_took_over_outlasts_its_creator(harness: Harness) -> None:
    async with harness.act() as unit:
        bob = await accounts.add_user(unit, "bob@example.com", "seven green bicycles")
        user = Actor(bob.account_id, unit.actor.scopes, "user", user_id=bob.id)
    async with unit_of(harness.services, user) as unit:
        made = [
            await service.subscribe(
                unit, harness.services.webhooks, "pipeline_stage_changed", f"{harness.receiver.url}/{number}"
            )
            for number in range(2)
        ]
    async with harness.act() as unit:
        await service.take_over(unit, made[0].id)
        await users.remove(unit, bob.id)
    await harness.tell("won")
    async with harness.at_work():
        [post] = await harness.receiver.expect(1)
        await until(lambda: is_removed(harness, made[1].id))

    assert post.path == "/0"
    assert (await harness.subscription(made[0].id))["status"] == "active"
