"""Subscriptions that end with their creator, while others change them or clear their deliveries."""

import asyncio
from dataclasses import replace

import pytest

from app.domain.accounts import api_keys
from app.domain.accounts.api_keys import NewKey
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import Actor
from app.domain.webhooks import leases, service
from app.domain.webhooks.leftovers import Leftovers
from app.domain.webhooks.models import Subscription
from tests.conftest import unit_of
from tests.domain.webhooks.faults import Gated, with_parts
from tests.domain.webhooks.harness import Harness
from tests.factories.traps import table_locked, until_blocked
from tests.factories.webhooks import WEBHOOK_DELIVERIES, WEBHOOK_SUBSCRIPTIONS
from tests.waiting import within

TOPICS = ["message.inbound", "contact.created"]


@pytest.fixture
async def key(harness: Harness) -> Actor:
    """Give a key with which webhooks are made."""
    async with harness.act() as unit:
        made, _ = await api_keys.create_key(unit, harness.services.secret, NewKey("Hooks"))
        return Actor(unit.actor.account_id, unit.actor.scopes, "key", key_id=made.id)


@pytest.fixture
async def webhook(harness: Harness, key: Actor) -> Subscription:
    """Give a webhook of a key."""
    async with unit_of(harness.services, key) as unit:
        return await service.create_webhook(unit, harness.services.webhooks, f"{harness.receiver.url}/hook", TOPICS)


async def revoke(harness: Harness, key: Actor) -> None:
    """Revoke the key of the webhooks."""
    async with harness.act() as unit:
        await api_keys.revoke_key(unit, key.key_id or 0)


async def due(harness: Harness) -> None:
    """Make a delivery due for each webhook."""
    async with harness.act() as unit:
        await contacts.create(unit, {"phone": "+12025550143"})
    await harness.dispatcher.run()


async def test_the_deliveries_of_a_webhook_that_ends_while_others_are_canceled_are_canceled_too(
    harness: Harness, webhook: Subscription, key: Actor
) -> None:
    await due(harness)
    await harness.update(webhook.id, events=TOPICS[1:])
    async with unit_of(harness.services, key) as unit:
        await service.take_over(unit, webhook.id)

    async with table_locked(harness.pool, WEBHOOK_DELIVERIES.table):
        clearing = asyncio.create_task(Leftovers(harness.services.database).run())
        await until_blocked(harness.pool)
        await revoke(harness, key)
        await harness.engine.run()
    await within("the chunk", clearing)
    await harness.clear()

    assert await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "status") == "removed"
    assert await WEBHOOK_DELIVERIES.read(harness.pool, "status") == ["canceled"]


async def test_a_webhook_that_is_taken_over_while_a_worker_finds_its_creator_ended_goes_on(
    harness: Harness, webhook: Subscription, key: Actor
) -> None:
    await due(harness)
    await revoke(harness, key)
    gate = Gated(harness.pool, leases.LEASE)
    engine = with_parts(harness.engine, leases=replace(harness.engine.shared.leases, pool=gate))

    leasing = asyncio.create_task(engine.run())
    await within("the lease", gate.kept.wait())
    async with harness.act() as unit:
        await service.take_over(unit, webhook.id)
        gate.go.set()
        await until_blocked(harness.pool)
    await within("the start of the worker", leasing)
    await harness.receiver.expect(1)
    await engine.finish()

    assert await WEBHOOK_SUBSCRIPTIONS.only(harness.pool, "status") == "active"
    assert await WEBHOOK_DELIVERIES.read(harness.pool, "status") == ["delivered"]
    assert await harness.notices() == []
