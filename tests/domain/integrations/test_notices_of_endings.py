"""Owners are told of each integration that stops with the credential of its creator, also of one without work."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.bootstrap import open_jobs
from app.domain.events.dispatcher import Dispatcher
from app.domain.integrations import endings, service
from app.domain.integrations.endings import Endings
from app.domain.integrations.models import Integration
from app.domain.kernel.unit_of_work import Actor
from app.domain.notices.mails import NoticeMails
from app.domain.notices.reactions import REACTIONS
from app.jobs.notifier import Notifier
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.creators import CREATORS, add_creator, end_creator
from tests.factories.accounts import ACCOUNTS, API_KEYS, WAITING_MAILS, add_user, id_of_user
from tests.factories.integrations import BOOKING_TEXTS, INTEGRATIONS
from tests.factories.notices import NOTICES
from tests.factories.tables import ago
from tests.factories.traps import until_blocked
from tests.peers import calcom
from tests.peers.visits import Visit

pytestmark = pytest.mark.anyio

ACTIONS: Any = {"paths": {"phone": "phone"}}
OTHERS: Any = {"paths": {"phone": "mobile"}}
VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3))


async def make(office: Office, creator: Actor, name: str = "Shop") -> Integration:
    """Add an inbound webhook."""
    async with unit_of(office.services, creator) as unit:
        return (await service.add_webhook(unit, office.intake.ports, name, ACTIONS))[0]


async def find_endings(services: Services, batch: int = endings.BATCH) -> None:
    """Run the job, and dispatch the events."""
    job = Endings(services.database, services.clock, services.notify, batch)
    if await job.due():
        await job.run()
    await Dispatcher(services.database, services.clock, services.notify, REACTIONS).run()


async def told(services: Services) -> Sequence[Any]:
    """Return the users who got notices, and of which integrations."""
    return await NOTICES.read(services, "user_id", "kind", "title", "subject_id")


@pytest.mark.parametrize("kind", CREATORS)
async def test_owners_are_told_once_of_an_integration_without_work_that_stops_with_its_creator(
    office: Office, kind: str
):
    services, account = office.services, office.account
    owner = await id_of_user(services, email=account.email)
    creator = await add_creator(services, account.account_id, kind)
    await add_user(services, account.account_id, "member@example.com")
    hook = await make(office, creator)
    await find_endings(services)
    before = await told(services)

    await end_creator(services, creator)
    await find_endings(services)
    await find_endings(services)

    assert before == []
    assert await told(services) == [(owner, "integration", "The integration Shop has stopped", hook.id)]
    assert await INTEGRATIONS.only(services, "status") == "paused"
    await NoticeMails(services.database, services.clock, services.notify).run()
    words = await WAITING_MAILS.only(services, "words")
    assert words["subject"] == "The integration Shop has stopped"
    assert f"messaging integration resume {account.account_id} {hook.id}" in words["opening"]


async def test_owners_are_told_of_an_integration_whose_key_expires(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    hook = await make(office, creator)
    await API_KEYS.where(id=creator.key_id).change(office.services, expires_at=ago(seconds=1))

    await find_endings(office.services)

    assert await NOTICES.only(office.services, "subject_id") == hook.id


async def test_owners_are_told_of_each_active_integration_but_of_no_other(office: Office):
    services, account_id = office.services, office.account.account_id
    creator, other = await add_creator(services, account_id, "key"), await add_creator(services, account_id, "user")
    await make(office, other)
    hooks = [await make(office, creator, name) for name in ("A", "B", "C")]
    async with office.unit() as unit:
        await service.pause(unit, hooks[1].id)
        await service.add_webhook(unit, office.intake.ports, "Without a creator", ACTIONS)
    await end_creator(services, creator)

    await find_endings(services, batch=1)

    assert await NOTICES.read(services, "title") == ["The integration A has stopped", "The integration C has stopped"]
    assert await INTEGRATIONS.read(services, "status") == ["active", "paused", "paused", "paused", "active"]


async def test_a_worker_that_meets_an_ended_creator_first_tells_owners_too(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    async with unit_of(office.services, creator) as unit:
        integration = await service.add(unit, office.intake.ports, "calcom", "the secret of the tool", {})
    await office.post(integration, calcom.booked(VISIT))
    await end_creator(office.services, creator)

    await office.work()
    await find_endings(office.services)

    assert await NOTICES.only(office.services, "subject_id") == integration.id


async def test_an_integration_that_is_just_taken_over_as_its_creator_ends_goes_on(office: Office):
    services, account_id = office.services, office.account.account_id
    creator, other = await add_creator(services, account_id, "key"), await add_creator(services, account_id, "user")
    hook = await make(office, creator)

    async with unit_of(services, other) as unit:
        await service.take_over(unit, office.intake.ports, hook.id)
        await end_creator(services, creator)
        job = asyncio.create_task(find_endings(services))
        await until_blocked(services.database.pool)
    await job

    assert await INTEGRATIONS.only(services, "status") == "active"
    assert await NOTICES.count(services) == 0


async def test_an_integration_whose_pause_fails_is_paused_and_told_of_later(
    office: Office, monkeypatch: pytest.MonkeyPatch
):
    creator = await add_creator(office.services, office.account.account_id, "key")
    await make(office, creator)
    await end_creator(office.services, creator)
    with monkeypatch.context() as broken:
        broken.setattr(endings, "TITLE", "{unknown}")
        with pytest.raises(KeyError):
            await find_endings(office.services)
    after_fault = await INTEGRATIONS.only(office.services, "status")

    await find_endings(office.services)

    assert after_fault == "active"
    assert await NOTICES.count(office.services) == 1


async def test_owners_are_told_again_when_an_integration_that_was_resumed_stops_again(office: Office):
    services = office.services
    creators = [await add_creator(services, office.account.account_id, kind) for kind in ("key", "user")]
    hook = await make(office, creators[0])
    await end_creator(services, creators[0])
    await find_endings(services)
    async with unit_of(services, creators[1]) as unit:
        await service.resume(unit, office.intake.ports, hook.id)
    await find_endings(services)
    of_first = await NOTICES.count(services)

    await end_creator(services, creators[1])
    await find_endings(services)

    assert (of_first, await NOTICES.count(services)) == (1, 2)


async def test_an_integration_of_a_deleted_account_causes_no_notice(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    await make(office, creator)
    await end_creator(office.services, creator)
    await ACCOUNTS.where(id=office.account.account_id).change(office.services, status="deleted")

    await find_endings(office.services)

    assert await NOTICES.count(office.services) == 0


@pytest.mark.parametrize("change", ["actions", "secret", "take-over"])
async def test_an_integration_that_gets_a_new_creator_after_the_end_of_the_former_one_waits_to_be_resumed(
    office: Office, change: str
):
    creator = await add_creator(office.services, office.account.account_id, "key")
    hook = await make(office, creator)
    await end_creator(office.services, creator)
    async with office.unit() as unit:
        match change:
            case "actions":
                await service.update_webhook(unit, hook.id, None, OTHERS)
            case "secret":
                await service.rotate(unit, office.intake.ports, hook.id, "the new secret", 1)
            case _:
                await service.take_over(unit, office.intake.ports, hook.id)

    assert await INTEGRATIONS.only(office.services, "status") == "paused"


async def test_texts_that_came_too_late_are_skipped_after_the_end_of_the_creator_with_no_further_notice(office: Office):
    creator = await add_creator(office.services, office.account.account_id, "key")
    async with unit_of(office.services, creator) as unit:
        integration = await service.add(unit, office.intake.ports, "calcom", "the secret of the tool", {})
    await office.post(integration, calcom.booked(VISIT))
    await office.applier.run()
    await end_creator(office.services, creator)
    await office.texts.run()
    office.clock.instant = VISIT.starts_at + timedelta(minutes=1)

    all_taken = await replace(office.texts, batch=100).run()
    await find_endings(office.services)

    assert (all_taken, await office.texts.due()) == (False, False)
    assert set(await BOOKING_TEXTS.read(office.services, "status", "reason")) == {("skipped", "past")}
    assert (await office.bodies(), await NOTICES.count(office.services)) == ([], 1)


async def test_a_worker_looks_for_ended_creators_twice_a_minute(settings: Settings):
    assert settings.redis_url
    async with open_jobs(settings, Notifier(settings.redis_url)) as jobs:
        intervals = {job.topic: job.every for job in jobs}

    assert intervals[endings.TOPIC] == 30
