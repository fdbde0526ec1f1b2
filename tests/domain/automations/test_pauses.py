"""Runs whose automation is paused or deleted while a worker executes them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from app.bootstrap import open_dispatcher
from app.domain.automations import service
from app.domain.automations.runner import WAITS, AutomationRunner, DueRun
from app.domain.kernel.errors import Conflict
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.automations.test_runs import NEW, add_ann, enable, runner, shown, work
from tests.domain.conftest import Act, UnitFor
from tests.factories.automations import AUTOMATION_RUNS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import OUTBOUND
from tests.factories.traps import until_blocked
from tests.waiting import within

WAIT, TAG = {"kind": "wait", "minutes": 60}, {"kind": "add_tag", "tag": "later"}


@dataclass(frozen=True)
class Interrupted(AutomationRunner):
    """A worker that lets the test act in front of each action of a claimed run."""

    before: Callable[[], Awaitable[Any]] | None = None

    async def _act(self, row: DueRun, place: int) -> bool:
        if self.before:
            await self.before()
        return await super()._act(row, place)


def interrupted(services: Services, before: Callable[[], Awaitable[Any]]) -> Interrupted:
    return Interrupted(services.database, services.acceptor, services.clock, services.notify, before=before)


async def start(perform: Act, services: Services, *steps: dict[str, Any]) -> int:
    automation = await enable(perform, NEW, *steps)
    await add_ann(perform)
    await open_dispatcher(services).run()
    return automation


async def test_a_run_whose_automation_was_paused_since_the_claim_ends_instead_of_waiting(
    perform: Act, services: Services
) -> None:
    automation = await start(perform, services, WAIT, TAG)

    await interrupted(services, lambda: perform(service.set_status, automation, enabled=False)).run()
    assert await shown(services) == [("canceled", "paused", [])]
    await perform(service.set_status, automation, enabled=True)
    await work(services, minutes=61)

    assert await shown(services) == [("canceled", "paused", [])]
    assert await CONTACTS.only(services, "tags") == []


async def test_a_run_that_begins_to_wait_during_a_pause_waits_for_its_end_and_is_canceled(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    automation = await start(perform, services, WAIT, TAG)
    is_claimed, is_pausing = asyncio.Event(), asyncio.Event()

    async def meet() -> None:
        is_claimed.set()
        await within("the pause begins", is_pausing.wait())

    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(interrupted(services, meet).run())
        await within("the run is claimed", is_claimed.wait())
        async with unit_for(account) as unit:
            await service.set_status(unit, automation, enabled=False)
            is_pausing.set()
            await until_blocked(services.database.pool)
        await working

    assert await shown(services) == [("canceled", "paused", [])]


@pytest.mark.parametrize("attempts", [0, len(WAITS)])
async def test_a_run_whose_automation_is_paused_as_its_action_fails_does_not_go_on(
    perform: Act, services: Services, attempts: int
) -> None:
    automation = await start(perform, services, TAG, TAG)
    await AUTOMATION_RUNS.change(services, attempts=attempts)

    async def pause_and_fail() -> None:
        await perform(service.set_status, automation, enabled=False)
        raise Conflict(reason="Somebody else changes the contact.")

    await interrupted(services, pause_and_fail).run()
    await perform(service.set_status, automation, enabled=True)
    await work(services, minutes=1)

    [(status, reason, _)] = await shown(services)
    assert (status, reason) == ("canceled", "paused")
    assert await CONTACTS.only(services, "tags") == []


async def test_a_pause_cancels_a_run_that_waits_to_be_tried_again(perform: Act, services: Services) -> None:
    automation = await start(perform, services, TAG)
    assert await AUTOMATION_RUNS.only(services, "status") == "running"

    await perform(service.set_status, automation, enabled=False)
    await perform(service.set_status, automation, enabled=True)
    await work(services, minutes=1)

    assert await shown(services) == [("canceled", "paused", [])]


@pytest.mark.parametrize("next_action", [WAIT, TAG, {"kind": "send", "body": "Hello"}])
async def test_a_run_whose_automation_was_deleted_since_the_claim_acts_no_more(
    perform: Act, services: Services, next_action: dict[str, Any]
) -> None:
    automation = await start(perform, services, next_action, TAG)

    await interrupted(services, lambda: perform(service.delete, automation)).run()
    await work(services, minutes=61)

    assert await AUTOMATION_RUNS.count(services) == 0
    assert await CONTACTS.only(services, "tags") == []
    assert await OUTBOUND.count(services) == 0


async def test_a_deletion_ends_the_runs_that_wait(perform: Act, services: Services) -> None:
    automation = await start(perform, services, WAIT, TAG)
    await runner(services).run()
    assert await AUTOMATION_RUNS.only(services, "status") == "waiting"

    await perform(service.delete, automation)
    await work(services, minutes=61)

    assert await CONTACTS.only(services, "tags") == []
