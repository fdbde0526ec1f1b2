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
from tests.domain.webhooks.stages import EVENT, Stage
from tests.factories.accounts import id_of_user
from tests.factories.contacts import CONTACTS
from tests.factories.oauth import OAUTH_GRANTS
from tests.factories.tables import ago
from tests.factories.traps import LosingPool, until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_NOTICES, WEBHOOK_SUBSCRIPTIONS

URL = "https://example.com/hook"
MANAGE = frozenset({"webhooks:manage"})


async def subscribe(stage: Stage, event: str = "new_contact", **who: Any) -> Subscription:
    async with unit_of(stage.services, actor(stage, **who)) as unit:
        return await service.subscribe(unit, stage.services.webhooks, event, URL)


def actor(stage: Stage, scopes: frozenset[str] = ALL, **who: Any) -> Actor:
    return Actor(stage.account.account_id, scopes, "test", **who)


async def make_key(stage: Stage) -> int:
    async with stage.act() as unit:
        key, _ = await api_keys.create_key(unit, stage.services.secret, NewKey("Zaps"))
        return key.id


async def make_grant(stage: Stage) -> int:
    user_id = await id_of_user(stage.pool)
    async with stage.act() as unit:
        client = Client(client_id="c", kind="managed", name="Zaps", redirect_uris=[], scopes=[], auth_method="none")
        client.created_by = "test"
        await unit.save(client)
        ends = unit.clock.now() + timedelta(days=1)
        grant = Grant(account_id=stage.account.account_id, user_id=user_id, client_id=client.id, scopes=[])
        grant.resource, grant.expires_at = "", ends
        await unit.save(grant)
        return grant.id


async def standing(stage: Stage) -> list[tuple[str, list[str]]]:
    """Have a contact told; return the status of each subscription, and of its deliveries."""
    async with stage.act() as unit:
        number = await CONTACTS.count(stage.pool)
        await contacts.create(unit, {"phone": f"+1202555{1000 + number}"})
    await stage.dispatcher.run()
    await stage.clear()
    return [
        (status, await WEBHOOK_DELIVERIES.where(subscription_id=id).read(stage.pool, "status"))
        for id, status in await WEBHOOK_SUBSCRIPTIONS.read(stage.pool, "id", "status")
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
async def test_subscribing_needs_the_scope_to_read_what_is_told(stage: Stage, event: str, scope: str) -> None:
    with pytest.raises(InsufficientScope) as refused:
        await subscribe(stage, event, scopes=ALL - {scope})
    unchanged = await WEBHOOK_SUBSCRIPTIONS.count(stage.pool)
    await subscribe(stage, event, scopes=MANAGE | {scope})

    assert (refused.value.facts, unchanged) == ({"scope": scope}, 0)
    assert await WEBHOOK_SUBSCRIPTIONS.count(stage.pool) == 1


async def test_a_webhook_needs_the_scopes_of_all_its_events_and_so_does_turning_it_elsewhere(stage: Stage) -> None:
    ports, topics = stage.services.webhooks, ["contact.created", "message.inbound"]
    async with unit_of(stage.services, actor(stage, MANAGE | {"contacts:read"})) as unit:
        with pytest.raises(InsufficientScope, match="messages:read"):
            await service.create_webhook(unit, ports, URL, topics)
    async with stage.act() as unit:
        webhook = await service.create_webhook(unit, ports, URL, topics)

    async with unit_of(stage.services, actor(stage, MANAGE)) as unit:
        with pytest.raises(InsufficientScope):
            await service.update_webhook(unit, ports, webhook.id, {"target_url": f"{URL}/elsewhere"})
        await unit.close(commit=False)
    async with unit_of(stage.services, actor(stage, MANAGE)) as unit:
        await service.update_webhook(unit, ports, webhook.id, {"description": "Theirs"})

    row = await stage.subscription(webhook.id)
    assert (row["target_url"], row["description"]) == (URL, "Theirs")


async def test_a_subscription_ends_with_the_key_that_made_it(stage: Stage) -> None:
    key_id = await make_key(stage)
    await subscribe(stage, key_id=key_id)
    await subscribe(stage)
    before = await standing(stage)
    async with stage.act() as unit:
        await api_keys.revoke_key(unit, key_id)

    assert before == [("active", ["pending"]), ("active", ["pending"])]
    assert await standing(stage) == [("removed", ["canceled"]), ("active", ["pending", "pending"])]
    notices = await WEBHOOK_NOTICES.read(stage.pool, "kind", "text")
    assert [tuple(notice) for notice in notices] == [
        (
            "removed",
            f"{URL} was removed, because the credential that created it has ended: its API key was revoked or expired, "
            "its application was disconnected, or its user was removed.",
        )
    ]


async def test_a_subscription_of_a_key_that_was_rotated_goes_on_until_the_last_one_is_revoked(stage: Stage) -> None:
    first = await make_key(stage)
    await subscribe(stage, key_id=first)
    async with stage.act() as unit:
        second, _ = await api_keys.rotate_key(unit, stage.services.secret, first)
        third, _ = await api_keys.rotate_key(unit, stage.services.secret, second.id)
        await api_keys.revoke_key(unit, first)
    rotated = await standing(stage)
    async with stage.act() as unit:
        await api_keys.revoke_key(unit, third.id)

    assert rotated == [("active", ["pending"])]
    assert await standing(stage) == [("removed", ["canceled"])]


async def test_a_subscription_ends_with_the_application_that_made_it_and_not_with_its_token(stage: Stage) -> None:
    grant_id = await make_grant(stage)
    await subscribe(stage, grant_id=grant_id)
    before = await standing(stage)
    async with stage.act() as unit:
        await grants.revoke(unit, grant_id)

    assert before == [("active", ["pending"])]
    assert await standing(stage) == [("removed", ["canceled"])]


async def test_a_subscription_of_an_application_ends_when_its_connection_has_lasted_its_time(stage: Stage) -> None:
    grant_id = await make_grant(stage)
    await subscribe(stage, grant_id=grant_id)
    before = await standing(stage)
    await OAUTH_GRANTS.change(stage.pool, expires_at=ago(seconds=1))

    assert before == [("active", ["pending"])]
    assert await standing(stage) == [("removed", ["canceled"])]


async def test_a_subscription_of_an_application_ends_when_the_user_who_allowed_it_is_removed(stage: Stage) -> None:
    grant_id = await make_grant(stage)
    await subscribe(stage, grant_id=grant_id)
    async with stage.act() as unit:
        bob = await accounts.add_user(unit, "bob@example.com", "secret")
    await OAUTH_GRANTS.change(stage.pool, user_id=bob.id)
    before = await standing(stage)
    async with stage.act() as unit:
        await users.remove(unit, bob.id)

    assert before == [("active", ["pending"])]
    assert await standing(stage) == [("removed", ["canceled"])]


async def test_whoever_turns_a_webhook_elsewhere_is_its_creator_from_then_on(stage: Stage) -> None:
    key_id = await make_key(stage)
    subscription = await subscribe(stage)
    async with unit_of(stage.services, actor(stage, key_id=key_id)) as unit:
        await service.update_webhook(unit, stage.services.webhooks, subscription.id, {"target_url": f"{URL}/mine"})
        await api_keys.revoke_key(unit, key_id)

    assert await standing(stage) == [("removed", [])]


async def test_only_a_subscription_of_the_kind_that_is_named_is_ended(stage: Stage) -> None:
    hook = await subscribe(stage)
    async with stage.act() as unit:
        webhook = await service.create_webhook(unit, stage.services.webhooks, URL, ["contact.created"])

    async with stage.act() as unit:
        with pytest.raises(NotFound):
            await service.unsubscribe(unit, webhook.id, SubscriptionKind.hook)
        await service.unsubscribe(unit, hook.id, SubscriptionKind.hook)

    assert [status for status, _ in await standing(stage)] == ["removed", "active"]


async def test_two_units_at_once_do_not_pass_the_limit(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_SUBSCRIPTIONS", 1)
    refused: list[Exception] = []

    async def one() -> None:
        try:
            await subscribe(stage)
        except Conflict as conflict:
            refused.append(conflict)

    async with stage.act() as unit:
        await service.subscribe(unit, stage.services.webhooks, "new_contact", URL)
        other = asyncio.create_task(one())
        await until_blocked(stage.pool)
    await other

    async with stage.act() as unit:
        assert await queries.count_subscriptions(unit) == 1
    assert len(refused) == 1


async def test_subscriptions_whose_creators_cannot_be_looked_up_are_given_back_at_once(stage: Stage) -> None:
    await subscribe(stage, EVENT, key_id=await make_key(stage))
    await stage.tell("won")
    await stage.dispatcher.run()
    losing: Any = LosingPool(stage.pool)
    database = replace(stage.engine.shared.dependencies.database, pool=losing)
    engine = with_parts(stage.engine, dependencies=replace(stage.engine.shared.dependencies, database=database))

    with pytest.raises(UNREACHABLE):
        await engine.run()

    assert losing.lost == 1
    assert await stage.is_at_rest()
    assert await stage.states() == [("pending", 0)]
