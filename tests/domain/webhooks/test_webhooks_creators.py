"""Creators of subscriptions: events within their scopes only, and the end with their key or application."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import UNREACHABLE
from app.domain.accounts import api_keys, users
from app.domain.accounts import service as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import ALL
from app.domain.contacts import service as contacts
from app.domain.grants.models import Client, Grant
from app.domain.kernel.errors import Conflict, InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import grants
from app.domain.webhooks import queries, service
from app.domain.webhooks.models import Subscription, SubscriptionKind
from tests.conftest import unit_of
from tests.domain.webhooks.faults import with_parts
from tests.domain.webhooks.harness import EVENT, Harness
from tests.factories.accounts import id_of_user
from tests.factories.contacts import CONTACTS
from tests.factories.oauth import OAUTH_GRANTS
from tests.factories.tables import ago
from tests.factories.traps import LosingPool, until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_NOTICES, WEBHOOK_SUBSCRIPTIONS

URL = "https://example.com/hook"
MANAGE = frozenset({"webhooks:manage"})


async def subscribe(harness: Harness, event: str = "new_contact", **who: Any) -> Subscription:
    async with unit_of(harness.services, actor(harness, **who)) as unit:
        return await service.subscribe(unit, harness.services.webhooks, event, URL)


def actor(harness: Harness, scopes: frozenset[str] = ALL, **who: Any) -> Actor:
    return Actor(harness.account.account_id, scopes, "test", **who)


async def make_key(harness: Harness) -> int:
    async with harness.act() as unit:
        key, _ = await api_keys.create_key(unit, harness.services.secret, NewKey("Zaps"))
        return key.id


async def make_grant(harness: Harness) -> int:
    user_id = await id_of_user(harness.pool)
    async with harness.act() as unit:
        client = Client(client_id="c", kind="managed", name="Zaps", redirect_uris=[], scopes=[], auth_method="none")
        client.created_by = "test"
        await unit.save(client)
        ends = unit.clock.now() + timedelta(days=1)
        grant = Grant(account_id=harness.account.account_id, user_id=user_id, client_id=client.id, scopes=[])
        grant.resource, grant.expires_at = "", ends
        await unit.save(grant)
        return grant.id


async def standing(harness: Harness) -> list[tuple[str, list[str]]]:
    """Have a contact told; return the status of each subscription, and of its deliveries."""
    async with harness.act() as unit:
        number = await CONTACTS.count(harness.pool)
        await contacts.create(unit, {"phone": f"+1202555{1000 + number}"})
    await harness.dispatcher.run()
    await harness.clear()
    return [
        (status, await WEBHOOK_DELIVERIES.where(subscription_id=id).read(harness.pool, "status"))
        for id, status in await WEBHOOK_SUBSCRIPTIONS.read(harness.pool, "id", "status")
    ]


@pytest.mark.parametrize(
    ("event", "scope"),
    [
        ("new_message", "messages:read"),
        ("message_delivered", "messages:read"),
        ("message_failed", "messages:read"),
        ("new_conversation", "messages:read"),
        ("keyword_reply", "messages:read"),
        ("new_contact", "contacts:read"),
        ("new_opt_out", "contacts:read"),
        ("drip_completed", "contacts:read"),
    ],
)
async def test_subscribing_needs_the_scope_to_read_the_event(harness: Harness, event: str, scope: str) -> None:
    with pytest.raises(InsufficientScope) as refused:
        await subscribe(harness, event, scopes=ALL - {scope})
    unchanged = await WEBHOOK_SUBSCRIPTIONS.count(harness.pool)
    await subscribe(harness, event, scopes=MANAGE | {scope})

    assert (refused.value.facts, unchanged) == ({"scope": scope}, 0)
    assert await WEBHOOK_SUBSCRIPTIONS.count(harness.pool) == 1


async def test_a_webhook_needs_the_scopes_of_all_its_events_and_so_does_turning_it_elsewhere(harness: Harness) -> None:
    ports, topics = harness.services.webhooks, ["contact.created", "message.inbound"]
    async with unit_of(harness.services, actor(harness, MANAGE | {"contacts:read"})) as unit:
        with pytest.raises(InsufficientScope, match="messages:read"):
            await service.create_webhook(unit, ports, URL, topics)
    async with harness.act() as unit:
        webhook = await service.create_webhook(unit, ports, URL, topics)

    async with unit_of(harness.services, actor(harness, MANAGE)) as unit:
        with pytest.raises(InsufficientScope):
            await service.update_webhook(unit, ports, webhook.id, {"target_url": f"{URL}/elsewhere"})
        await unit.close(commit=False)
    async with unit_of(harness.services, actor(harness, MANAGE)) as unit:
        await service.update_webhook(unit, ports, webhook.id, {"description": "Theirs"})

    row = await harness.subscription(webhook.id)
    assert (row["target_url"], row["description"]) == (URL, "Theirs")


async def test_a_subscription_ends_with_the_key_that_made_it(harness: Harness) -> None:
    key_id = await make_key(harness)
    await subscribe(harness, key_id=key_id)
    await subscribe(harness)
    before = await standing(harness)
    async with harness.act() as unit:
        await api_keys.revoke_key(unit, key_id)

    assert before == [("active", ["pending"]), ("active", ["pending"])]
    assert await standing(harness) == [("removed", ["canceled"]), ("active", ["pending", "pending"])]
    notices = await WEBHOOK_NOTICES.read(harness.pool, "kind", "text")
    assert [tuple(notice) for notice in notices] == [
        (
            "removed",
            f"{URL} was removed, because the credential that created it has ended: its API key was revoked or expired, "
            "its application was disconnected, or its user was removed.",
        )
    ]


async def test_a_subscription_of_a_key_that_was_rotated_goes_on_until_the_last_one_is_revoked(harness: Harness) -> None:
    first = await make_key(harness)
    await subscribe(harness, key_id=first)
    async with harness.act() as unit:
        second, _ = await api_keys.rotate_key(unit, harness.services.secret, first)
        third, _ = await api_keys.rotate_key(unit, harness.services.secret, second.id)
        await api_keys.revoke_key(unit, first)
    rotated = await standing(harness)
    async with harness.act() as unit:
        await api_keys.revoke_key(unit, third.id)

    assert rotated == [("active", ["pending"])]
    assert await standing(harness) == [("removed", ["canceled"])]


async def test_a_subscription_ends_with_the_application_that_made_it_and_not_with_its_token(harness: Harness) -> None:
    grant_id = await make_grant(harness)
    await subscribe(harness, grant_id=grant_id)
    before = await standing(harness)
    async with harness.act() as unit:
        await grants.revoke(unit, grant_id)

    assert before == [("active", ["pending"])]
    assert await standing(harness) == [("removed", ["canceled"])]


async def test_a_subscription_of_an_application_ends_when_its_connection_has_lasted_its_time(harness: Harness) -> None:
    grant_id = await make_grant(harness)
    await subscribe(harness, grant_id=grant_id)
    before = await standing(harness)
    await OAUTH_GRANTS.change(harness.pool, expires_at=ago(seconds=1))

    assert before == [("active", ["pending"])]
    assert await standing(harness) == [("removed", ["canceled"])]


async def test_a_subscription_of_an_application_ends_when_the_user_who_allowed_it_is_removed(harness: Harness) -> None:
    grant_id = await make_grant(harness)
    await subscribe(harness, grant_id=grant_id)
    async with harness.act() as unit:
        bob = await accounts.add_user(unit, "bob@example.com", "secret")
    await OAUTH_GRANTS.change(harness.pool, user_id=bob.id)
    before = await standing(harness)
    async with harness.act() as unit:
        await users.remove(unit, bob.id)

    assert before == [("active", ["pending"])]
    assert await standing(harness) == [("removed", ["canceled"])]


async def test_changing_the_url_of_a_webhook_makes_the_caller_its_creator(harness: Harness) -> None:
    key_id = await make_key(harness)
    subscription = await subscribe(harness)
    async with unit_of(harness.services, actor(harness, key_id=key_id)) as unit:
        await service.update_webhook(unit, harness.services.webhooks, subscription.id, {"target_url": f"{URL}/mine"})
        await api_keys.revoke_key(unit, key_id)

    assert await standing(harness) == [("removed", [])]


async def test_only_a_subscription_of_the_kind_that_is_named_is_ended(harness: Harness) -> None:
    hook = await subscribe(harness)
    async with harness.act() as unit:
        webhook = await service.create_webhook(unit, harness.services.webhooks, URL, ["contact.created"])

    async with harness.act() as unit:
        with pytest.raises(NotFound):
            await service.unsubscribe(unit, webhook.id, SubscriptionKind.hook)
        await service.unsubscribe(unit, hook.id, SubscriptionKind.hook)

    assert [status for status, _ in await standing(harness)] == ["removed", "active"]


async def test_two_units_at_once_do_not_pass_the_limit(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_SUBSCRIPTIONS", 1)
    refused: list[Exception] = []

    async def one() -> None:
        try:
            await subscribe(harness)
        except Conflict as conflict:
            refused.append(conflict)

    async with harness.act() as unit:
        await service.subscribe(unit, harness.services.webhooks, "new_contact", URL)
        other = asyncio.create_task(one())
        await until_blocked(harness.pool)
    await other

    async with harness.act() as unit:
        assert await queries.count_subscriptions(unit) == 1
    assert len(refused) == 1


async def test_subscriptions_whose_creators_cannot_be_looked_up_are_given_back_at_once(harness: Harness) -> None:
    await subscribe(harness, EVENT, key_id=await make_key(harness))
    await harness.tell("won")
    await harness.dispatcher.run()
    losing: Any = LosingPool(harness.pool)
    database = replace(harness.engine.shared.dependencies.database, pool=losing)
    engine = with_parts(harness.engine, dependencies=replace(harness.engine.shared.dependencies, database=database))

    with pytest.raises(UNREACHABLE):
        await engine.run()

    assert losing.lost == 1
    assert await harness.is_at_rest()
    assert await harness.states() == [("pending", 0)]
