"""Runs of automations: what starts them, what each condition and action does, and that none acts twice."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from app.bootstrap import open_dispatcher
from app.domain.accounts.scopes import ALL
from app.domain.automations import queries, service, times, watching
from app.domain.automations.models import KeywordMatch
from app.domain.automations.runner import AutomationRunner
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import Contact, CustomFieldType
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Act, UnitFor
from tests.factories.automations import AUTOMATION_RUNS, AUTOMATIONS, WATCHED_KEYWORDS
from tests.factories.clocks import At, Later
from tests.factories.contacts import CONTACTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import OUTBOUND

PHONE = "+12025550143"
NEW = {"kind": "event", "event": "new_contact"}


def runner(services: Services, **ahead: float) -> AutomationRunner:
    clock = Later(timedelta(**ahead)) if ahead else services.clock
    return AutomationRunner(services.database, services.acceptor, clock, services.notify)


async def work(services: Services, **ahead: float) -> None:
    """Dispatch all events, and execute all runs that are due."""
    dispatcher, each = open_dispatcher(services), runner(services, **ahead)
    while await dispatcher.due() or await each.due():
        await dispatcher.run()
        await each.run()


async def enable(perform: Act, trigger: dict[str, Any], *actions: dict[str, Any], **more: Any) -> int:
    automation = await perform(service.create, {"name": "Test", "trigger": trigger, "actions": actions, **more})
    await perform(service.set_status, automation.id, enabled=True)
    return automation.id


async def add_ann(perform: Act, **fields: Any) -> Contact:
    return await perform(contacts.create, {"phone": PHONE, "first_name": "Ann", **fields})


async def shown(services: Services) -> list[tuple[str, str, list[str]]]:
    rows = await AUTOMATION_RUNS.read(services, "status", "reason", "results")
    return [(row["status"], row["reason"], [each["outcome"] for each in row["results"]]) for row in rows]


async def test_each_action_changes_the_contact_and_the_run_tells_its_result(perform: Act, services: Services) -> None:
    await enable(
        perform,
        NEW,
        {"kind": "add_tag", "tag": "new"},
        {"kind": "set_stage", "stage": "contacted"},
        {"kind": "remove_tag", "tag": "old"},
        {"kind": "exit_drips"},
        {"kind": "notify", "text": "Somebody new"},
        {"kind": "send", "body": "Hi {first_name}! Reply STOP to opt out."},
    )
    ann = await add_ann(perform, tags=["old"])

    await work(services)

    assert await CONTACTS.read(services, "tags", "pipeline_stage") == [(["new"], "contacted")]
    assert await shown(services) == [("done", "", ["done"] * 5 + ["sent"])]
    [(body, purpose, contact_id)] = await OUTBOUND.read(services, "body", "purpose", "contact_id")
    assert (body, purpose, contact_id) == ("Hi Ann! Reply STOP to opt out.", "promotional", ann.id)


async def test_conditions_are_explained_with_the_value_that_the_contact_had(perform: Act, services: Services) -> None:
    filter = {"all": [{"field": "first_name", "op": "eq", "value": ["Bob"]}, {"field": "email", "op": "is_empty"}]}
    await enable(perform, NEW, {"kind": "add_tag", "tag": "bob"}, filter=filter)
    await add_ann(perform)

    await work(services)

    assert await shown(services) == [("skipped", "conditions", [])]
    assert await AUTOMATION_RUNS.only(services, "conditions") == [
        {"condition": "first_name is Bob", "value": "Ann", "holds": False},
        {"condition": "email is empty", "value": "", "holds": True},
    ]


async def test_the_runs_of_an_account_do_not_wait_for_all_those_of_another(
    perform: Act, unit_for: UnitFor, new_account: Callable[..., Any], services: Services
) -> None:
    await enable(perform, NEW, {"kind": "add_tag", "tag": "new"})
    for number in range(3):
        await perform(contacts.create, {"phone": f"+1202555014{number}"})
    other = await new_account()
    async with unit_for(other) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        fields = {"name": "Other", "trigger": NEW, "actions": [{"kind": "add_tag", "tag": "new"}]}
        await service.set_status(unit, (await service.create(unit, fields)).id, enabled=True)
    async with unit_for(other) as unit:
        await contacts.create(unit, {"phone": PHONE})
    dispatcher = open_dispatcher(services)
    while await dispatcher.due():
        await dispatcher.run()

    await replace(runner(services), batch=2).run()

    done = await AUTOMATION_RUNS.where(status="done").read(services, "account_id")
    assert other.account_id in done
    assert len(done) == 2


async def test_a_wait_puts_the_next_action_off_and_a_pause_cancels_it(perform: Act, services: Services) -> None:
    steps = {"kind": "wait", "minutes": 60}, {"kind": "add_tag", "tag": "later"}
    first, second = [await enable(perform, NEW, *steps) for _ in range(2)]
    await add_ann(perform)

    await work(services)
    assert [row[0] for row in await shown(services)] == ["waiting", "waiting"]
    await perform(service.set_status, second, enabled=False)
    await work(services, minutes=61)

    assert await shown(services) == [("done", "", ["waited", "done"]), ("canceled", "paused", ["waited"])]
    assert await CONTACTS.only(services, "tags") == ["later"]
    assert (await perform(queries.get_automation, first)).status == "active"


async def test_an_automation_is_not_started_by_itself_and_chains_end(perform: Act, services: Services) -> None:
    for number in range(7):
        trigger = {"kind": "event", "event": "contact_tag_added"}
        where = [{"field": "tag", "op": "eq", "value": f"t{number}"}]
        await enable(perform, {**trigger, "where": where}, {"kind": "add_tag", "tag": f"t{number + 1}"})
    loop = {"kind": "event", "event": "contact_tag_removed"}
    await enable(perform, loop, {"kind": "add_tag", "tag": "x"}, {"kind": "remove_tag", "tag": "x"})
    ann = await add_ann(perform, tags=["y"])

    await perform(contacts.add_tag, ann.id, "t0")
    await perform(contacts.remove_tag, ann.id, "y")
    await work(services)

    chains = [len(chain) for chain in await AUTOMATION_RUNS.read(services, "chain")]
    assert sorted(chains) == [0, 0, 1, 2, 3, 4]
    assert await CONTACTS.only(services, "tags") == ["t0", "t1", "t2", "t3", "t4", "t5"]


async def test_a_contact_has_20_runs_a_day_at_most(perform: Act, services: Services) -> None:
    trigger = {"kind": "event", "event": "contact_tag_added"}
    await enable(perform, trigger, {"kind": "set_stage", "stage": "won"})
    ann = await add_ann(perform)

    for number in range(22):
        await perform(contacts.add_tag, ann.id, f"tag {number}")
    await work(services)

    assert await AUTOMATION_RUNS.count(services) == 20


async def test_an_opt_out_starts_no_run_and_a_text_to_a_contact_that_opted_out_is_refused(
    perform: Act, services: Services, account: Opened
) -> None:
    await enable(perform, {"kind": "event", "event": "new_message"}, {"kind": "send", "body": "Thanks"})
    await enable(perform, {"kind": "event", "event": "new_opt_out"}, {"kind": "send", "body": "Why?"})

    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "STOP"))
    await work(services)

    assert await shown(services) == [("done", "", ["refused"])]
    [result] = await AUTOMATION_RUNS.only(services, "results")
    assert result["code"] == "contact_opted_out"
    assert [row for row in await OUTBOUND.read(services, "purpose") if row != "compliance"] == []


async def test_runs_that_are_executed_twice_act_once(perform: Act, services: Services) -> None:
    await enable(perform, NEW, {"kind": "send", "body": "Hello"}, {"kind": "notify", "text": "New"})
    await add_ann(perform)
    await open_dispatcher(services).run()
    for _ in range(3):  # as after a kill: the claims have expired, and the results of the first are lost
        await asyncio.gather(*(runner(services, seconds=0.001).run() for _ in range(3)))
        await AUTOMATION_RUNS.change(services, position=0, due_at=services.clock.now(), claimed_until=None)

    assert await OUTBOUND.count(services) == 1


async def test_times_find_contacts_once(perform: Act, services: Services, account: Opened) -> None:
    actor = Actor(account.account_id, frozenset())
    noon = (services.clock.now() - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    await perform(custom_fields.create, NewField("born", "Born", CustomFieldType.date))
    for phone, days in ((PHONE, 0), ("+12025550144", 40)):
        born = f"1980-{noon + timedelta(days=days):%m-%d}"
        await perform(contacts.create, {"phone": phone, "custom_fields": {"born": born}})
    await enable(perform, {"kind": "birthday", "field": "born", "at": "00:00"}, {"kind": "add_tag", "tag": "party"})
    await enable(perform, {"kind": "missed_reply", "hours": 2}, {"kind": "add_tag", "tag": "waits"})
    await enable(perform, {"kind": "schedule", "at": "12:00"}, {"kind": "add_tag", "tag": "daily"})
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "Hello?"))
    await CONVERSATIONS.change(services, waiting_since=noon - timedelta(hours=3))

    for _ in range(2):
        await AUTOMATIONS.change(services, next_at=noon)
        await times.start_due(partial(open_unit, services.database.sessions, actor, At(noon), services.notify))
    await work(services)

    tags = dict(await CONTACTS.read(services, "phone", "tags"))
    assert {phone: sorted(each) for phone, each in tags.items()} == {
        PHONE: ["daily", "party", "waits"],
        "+12025550144": ["daily"],
    }
    assert await AUTOMATION_RUNS.count(services) == 4


@pytest.mark.parametrize(
    ("trigger", "action", "field"),
    [
        ({"kind": "event", "event": "no_such"}, {"kind": "exit_drips"}, "trigger.event"),
        (
            {**NEW, "where": [{"field": "fone", "op": "eq", "value": "1"}]},
            {"kind": "exit_drips"},
            "trigger.where[0].field",
        ),
        (
            {**NEW, "where": [{"field": "phone", "op": "eq", "value": "1" * 201}]},
            {"kind": "exit_drips"},
            "trigger.where[0].value",
        ),
        ({"kind": "missed_reply", "hours": 0}, {"kind": "exit_drips"}, "trigger.hours"),
        ({"kind": "birthday", "field": "none"}, {"kind": "exit_drips"}, "trigger.field"),
        (NEW, {"kind": "send"}, "actions[0].body"),
        (NEW, {"kind": "send", "body": "Hi {nobody}"}, "actions[0].body"),
        (NEW, {"kind": "add_tag", "tag": " "}, "actions[0].tag"),
        (NEW, {"kind": "wait", "minutes": 0}, "actions[0].minutes"),
    ],
)
async def test_an_invalid_trigger_or_action_is_refused_with_its_field(
    unit: UnitOfWork, trigger: dict[str, Any], action: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await service.create(unit, {"name": "Bad", "trigger": trigger, "actions": [action]})

    assert refused.value.field == field
    assert (await queries.find_automations(unit, None, Window())).nodes == []


async def test_keywords_match_by_their_rules_count_hits_record_consent_and_answer_once(
    perform: Act, services: Services, account: Opened
) -> None:
    await perform(watching.watch, "join", {"opts_in": True, "reply": "Welcome! Reply STOP to opt out."})
    await perform(watching.watch, "join us", {"match": KeywordMatch.starts_with, "reply": "Never"})
    await perform(watching.watch, "pizza", {"match": KeywordMatch.word})
    await perform(watching.watch, "quiet", {"is_active": False})
    for number, body in enumerate(("Join!", "join us now, pizza?", "I like pizza.", "pizzas", "quiet")):
        await services.inbox.receive("sandbox", InboundMessage(f"in-{number}", PHONE, account.phone_number, body))

    await work(services)

    assert dict(await WATCHED_KEYWORDS.read(services, "keyword", "hits")) == {
        "join": 1,
        "join us": 1,
        "pizza": 2,
        "quiet": 0,
    }
    assert await OUTBOUND.read(services, "body", "purpose") == [
        ("Welcome! Reply STOP to opt out.", "conversational"),
        ("Never", "conversational"),
    ]
