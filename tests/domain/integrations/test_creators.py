"""Integrations and inbound webhooks stop with their creator, until somebody takes them over."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import httpx2
import orjson
import pytest

from app.domain.accounts import api_keys
from app.domain.accounts.scopes import Scope
from app.domain.integrations import service
from app.domain.integrations.models import Integration
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.errors import InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor
from tests.conftest import unit_of
from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.creators import CREATORS, add_creator, end_creator
from tests.factories.accounts import API_KEYS, AUDIT_ENTRIES
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import BOOKING_TEXTS, INTEGRATION_EVENTS, INTEGRATIONS
from tests.factories.tables import ago
from tests.peers import calcom
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

SECRET = "the secret of the shop"
PHONES = ("+12025550143", "+12025550144", "+12025550145")
VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))
ACTIONS: Any = {"paths": {"phone": "phone"}}


async def make(office: Office, creator: Actor | None = None) -> Integration:
    """Add an inbound webhook."""
    async with unit_of(office.services, creator or office.actor) as unit:
        return (await service.add_webhook(unit, office.intake.ports, "Shop", ACTIONS, SECRET))[0]


async def post(office: Office, hook: Integration, phone: str) -> None:
    found = await office.intake.find(hook.kind, hook.address)
    delivery = Delivery({"x-webhook-secret": SECRET}, orjson.dumps({"phone": phone}))
    assert office.intake.is_signed(found, delivery)
    await office.intake.receive(found, delivery)


async def statuses(office: Office) -> list[str]:
    return await INTEGRATIONS.read(office.services, "status")


async def phones(office: Office) -> list[str]:
    return await CONTACTS.read(office.services, "phone")


async def stop_under_way(office: Office, creator: Actor) -> Integration:
    """Add a webhook whose creator ends while an event waits."""
    hook = await make(office, creator)
    await post(office, hook, PHONES[0])
    await end_creator(office.services, creator)
    await office.work()
    return hook


@pytest.mark.parametrize("kind", CREATORS)
async def test_an_inbound_webhook_takes_and_applies_no_event_once_its_creator_has_ended(office: Office, kind: str):
    creator = await add_creator(office.services, office.account.account_id, kind)
    hook = await make(office, creator)
    await post(office, hook, PHONES[0])
    await office.work()
    await post(office, hook, PHONES[1])

    await end_creator(office.services, creator)

    with pytest.raises(NotFound):
        await post(office, hook, PHONES[2])
    await office.work()
    assert await phones(office) == [PHONES[0]]
    assert await statuses(office) == ["paused"]
    assert await INTEGRATION_EVENTS.read(office.services, "status") == ["applied", "waiting"]


@pytest.mark.parametrize("kind", CREATORS)
async def test_an_integration_sends_no_text_once_its_creator_has_ended(office: Office, kind: str):
    creator = await add_creator(office.services, office.account.account_id, kind)
    async with unit_of(office.services, creator) as unit:
        integration = await service.add(unit, office.intake.ports, "calcom", "the secret of the tool", {})
    await office.post(integration, calcom.booked(VISIT))
    await office.applier.run()
    assert await BOOKING_TEXTS.where(status="waiting").count(office.services) > 0

    await end_creator(office.services, creator)
    await office.work()

    assert (await office.bodies(), await statuses(office)) == ([], ["paused"])
    assert set(await BOOKING_TEXTS.read(office.services, "status", "claimed_until")) == {("waiting", None)}


async def test_an_integration_stops_when_the_key_that_made_it_expires(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    hook = await make(office, creator)
    await API_KEYS.where(id=creator.key_id).change(office.services, expires_at=ago(days=400))

    with pytest.raises(NotFound):
        await post(office, hook, PHONES[0])


async def test_an_integration_of_a_key_that_was_rotated_goes_on_until_the_new_one_is_revoked(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    assert creator.key_id
    hook = await make(office, creator)
    async with office.unit() as unit:
        new, _ = await api_keys.rotate_key(unit, office.services.secret, creator.key_id)
        await api_keys.revoke_key(unit, creator.key_id)
    await post(office, hook, PHONES[0])
    await office.work()
    await end_creator(office.services, replace(creator, key_id=new.id))

    with pytest.raises(NotFound):
        await post(office, hook, PHONES[1])
    assert await phones(office) == [PHONES[0]]


async def test_integrations_of_others_and_those_without_a_creator_go_on(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    other = await add_creator(office.services, office.account.account_id, "user")
    hooks = [await make(office, creator), await make(office, other), await make(office)]
    for hook, phone in zip(hooks, PHONES, strict=True):
        await post(office, hook, phone)

    await end_creator(office.services, creator)
    await office.work()

    assert await phones(office) == [PHONES[1], PHONES[2]]
    assert await statuses(office) == ["paused", "active", "active"]


async def test_resuming_an_integration_whose_creator_has_ended_takes_it_over_and_applies_what_waited(office: Office):
    hook = await stop_under_way(office, await add_creator(office.services, office.account.account_id, "key"))
    other = await add_creator(office.services, office.account.account_id, "user")
    async with unit_of(office.services, other) as unit:
        await service.resume(unit, office.intake.ports, hook.id)
    await post(office, hook, PHONES[1])
    await office.work()
    resumed = await phones(office), await statuses(office)

    await end_creator(office.services, other)

    with pytest.raises(NotFound):
        await post(office, hook, PHONES[2])
    assert resumed == ([PHONES[0], PHONES[1]], ["active"])


async def test_an_integration_that_is_taken_over_goes_on_after_the_end_of_its_first_creator(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "user")
    hook = await make(office, creator)
    async with office.unit() as unit:
        await service.take_over(unit, office.intake.ports, hook.id)
    other = await add_creator(office.services, office.account.account_id, "key")
    async with unit_of(office.services, other) as unit:
        await service.take_over(unit, office.intake.ports, hook.id)

    await end_creator(office.services, creator)
    await post(office, hook, PHONES[0])
    await office.work()

    assert (await phones(office), await statuses(office)) == ([PHONES[0]], ["active"])
    assert await AUDIT_ENTRIES.where(action="integration_taken_over").count(office.services) == 2


async def test_an_integration_that_is_taken_over_after_the_end_of_its_creator_waits_to_be_resumed(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    hook = await make(office, creator)
    await end_creator(office.services, creator)
    other = await add_creator(office.services, office.account.account_id, "user")
    async with unit_of(office.services, other) as unit:
        await service.take_over(unit, office.intake.ports, hook.id)

    await post(office, hook, PHONES[0])
    await office.work()

    assert (await phones(office), await statuses(office)) == ([], ["paused"])


@pytest.mark.parametrize("change", ["actions", "secret"])
async def test_changing_the_actions_or_the_secret_of_an_integration_makes_the_caller_its_creator(
    office: Office, change: str
):
    hook = await make(office)
    thief = await add_creator(office.services, office.account.account_id, "key")
    async with unit_of(office.services, thief) as unit:
        match change:
            case "actions":
                await service.update_webhook(unit, hook.id, None, ACTIONS)
            case _:
                await service.rotate(unit, office.intake.ports, hook.id, "known to a thief", 1)

    await end_creator(office.services, thief)

    with pytest.raises(NotFound):
        await post(office, hook, PHONES[0])


async def test_a_new_name_leaves_the_creator_of_an_inbound_webhook(office: Office):
    hook = await make(office)
    creator = await add_creator(office.services, office.account.account_id, "key")
    async with unit_of(office.services, creator) as unit:
        await service.update_webhook(unit, hook.id, "Other", None)

    await end_creator(office.services, creator)
    await post(office, hook, PHONES[0])

    assert await INTEGRATIONS.read(office.services, "name", "received") == [("Other", 1)]


@pytest.mark.parametrize("kind", ["webhook", "calcom"])
@pytest.mark.parametrize("act", [service.take_over, service.resume])
async def test_an_integration_is_taken_over_only_with_the_scopes_of_its_work(office: Office, kind: str, act: Any):
    creator = await add_creator(office.services, office.account.account_id, "key")
    hook = await make(office, creator)
    async with unit_of(office.services, creator) as unit:
        tool = await service.add(unit, office.intake.ports, "calcom", "the secret of the tool", {})
    await end_creator(office.services, creator)
    weak = replace(office.actor, scopes=frozenset({Scope.webhooks_manage}))

    with pytest.raises(InsufficientScope):
        async with unit_of(office.services, weak) as unit:
            await act(unit, office.intake.ports, {"webhook": hook, "calcom": tool}[kind].id)


SHOWN = {"query": "{ integrations { status creator_ended_at } }"}


async def test_the_contract_shows_an_integration_as_paused_since_its_creator_has_ended(
    office: Office, api: httpx2.AsyncClient
):
    creator = await add_creator(office.services, office.account.account_id, "key")
    await make(office, creator)
    await make(office)
    before = (await api.post("/graphql", json=SHOWN)).json()["data"]["integrations"]

    await end_creator(office.services, creator)

    [ended, other] = (await api.post("/graphql", json=SHOWN)).json()["data"]["integrations"]
    assert before == [{"status": "active", "creator_ended_at": None}] * 2
    assert (ended["status"], other) == ("paused", before[0])
    assert datetime.fromisoformat(ended["creator_ended_at"]) == stored(
        await API_KEYS.where(id=creator.key_id).only(office.services, "revoked_at")
    )


def stored(moment: datetime) -> datetime:
    """Return a time as the contract shows it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
