"""Actions that fail: what is tried again, for how long, and that no run holds others up."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace

import pytest

from app.bootstrap import open_dispatcher
from app.domain.accounts.scopes import ALL
from app.domain.automations import service, watching
from app.domain.automations.runner import AutomationRunner, DueRun
from app.domain.kernel.errors import InsufficientScope
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.sequences.models import SequenceStatus
from app.services import Services
from tests.domain.automations.test_runs import NEW, add_ann, enable, runner, shown, work
from tests.domain.conftest import Act, UnitFor
from tests.factories.automations import AUTOMATION_RUNS, AUTOMATIONS, WATCHED_KEYWORDS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import OUTBOUND

TAG = {"kind": "add_tag", "tag": "later"}


async def refused(
    unit: AbstractAsyncContextManager[UnitOfWork], scope: str, verb: Callable[[UnitOfWork], Awaitable[object]]
) -> bool:
    """Tell whether a verb is refused to an actor that has every other scope; the unit is rolled back."""
    try:
        async with unit as opened:
            opened.actor = replace(opened.actor, scopes=ALL - {scope})
            await verb(opened)
    except InsufficientScope as error:
        return scope in str(error)
    return False


async def test_an_action_that_always_fails_ends_its_run_after_four_attempts_and_holds_no_other_run_up(
    perform: Act, services: Services
) -> None:
    for _ in range(2):
        await enable(perform, NEW, TAG)
    await add_ann(perform)
    await AUTOMATIONS.where(id=min(await AUTOMATIONS.read(services, "id"))).change(services, actions=[{"kind": "?"}])

    for minutes in (0, 1, 4, 15, 60):
        with pytest.raises(KeyError, match=r"\?") if minutes < 60 else nullcontext():
            await work(services, minutes=minutes)

    assert await shown(services) == [
        ("failed", "The service could not execute the next action.", []),
        ("done", "", ["done"]),
    ]
    assert await CONTACTS.only(services, "tags") == ["later"]
    assert await AUTOMATION_RUNS.read(services, "attempts", "due_at") == [(4, None), (0, None)]


async def test_a_lasting_conflict_is_shown_while_it_is_tried_again_and_then_refused(
    perform: Act, services: Services
) -> None:
    sequence = await perform(sequences.create, "Steps", [NewStep(0, "Hi. Reply STOP to opt out.")])
    await enable(perform, NEW, {"kind": "enroll", "sequence_id": sequence.id}, TAG)
    await perform(sequences.update_status, sequence.id, SequenceStatus.archived)
    await add_ann(perform)

    await work(services)
    [(status, reason, results)] = await shown(services)
    assert (status, results) == ("running", [])
    assert "is archived" in reason
    for minutes in (1, 4, 15):
        await work(services, minutes=minutes)

    assert await shown(services) == [("done", "", ["refused", "done"])]
    [refused, _] = await AUTOMATION_RUNS.only(services, "results")
    assert refused["code"] == "conflict"
    assert await runner(services, hours=1).due() is False


class Pausing(AutomationRunner):
    """A worker in front of which every automation is paused once it has claimed its runs."""

    async def _execute(self, row: DueRun) -> None:
        await AUTOMATIONS.change(self.database, status="paused")
        await super()._execute(row)


async def test_a_text_is_not_sent_by_a_run_whose_automation_was_paused_after_the_claim(
    perform: Act, services: Services
) -> None:
    await enable(perform, NEW, {"kind": "send", "body": "Hello"})
    await add_ann(perform)
    await open_dispatcher(services).run()

    await Pausing(services.database, services.acceptor, services.clock, services.notify).run()
    assert await OUTBOUND.count(services) == 0
    await work(services, minutes=1)

    assert await OUTBOUND.count(services) == 0
    assert await shown(services) == [("canceled", "paused", [])]


@pytest.mark.parametrize(
    ("action", "scope"),
    [
        ({"kind": "send", "body": "Hello"}, "messages:send"),
        ({"kind": "add_tag", "tag": "a"}, "contacts:write"),
        ({"kind": "exit_drips"}, "campaigns:send"),
        ({"kind": "webhook", "text": "a"}, "webhooks:manage"),
        ({"kind": "ai_on"}, "conversations:write"),
    ],
)
async def test_creating_changing_or_activating_an_automation_needs_the_scopes_of_its_actions(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, action: dict[str, str], scope: str
) -> None:
    automation = await perform(service.create, {"name": "Test", "trigger": NEW, "actions": [action]})
    for verb in (
        lambda unit: service.create(unit, {"name": "Test", "trigger": NEW, "actions": [action]}),
        lambda unit: service.update_automation(unit, automation.id, {"filter": None}),
        lambda unit: service.set_status(unit, automation.id, enabled=True),
    ):
        assert await refused(unit_for(account), scope, verb)

    assert await AUTOMATIONS.read(services, "status") == ["paused"]


async def test_a_keyword_needs_the_scope_of_its_reply_and_of_the_consent_that_it_records(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    plain = await perform(watching.watch, "menu")
    for fields, scope in (
        ({"reply": "Hi"}, "messages:send"),
        ({"opts_in": True}, "contacts:write"),
        ({"double_opt_in": True}, "messages:send"),
        ({"double_opt_in": True}, "contacts:write"),
    ):
        for verb in (
            lambda unit, fields=fields: watching.watch(unit, "join", fields),
            lambda unit, fields=fields: watching.change(unit, plain.id, fields),
        ):
            assert await refused(unit_for(account), scope, verb)

    assert await WATCHED_KEYWORDS.read(services, "keyword", "reply", "opts_in") == [("menu", "", False)]
