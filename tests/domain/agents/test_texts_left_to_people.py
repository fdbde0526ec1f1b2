"""Notices of texts that an AI agent was to answer, and left to people."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.agents import queries
from app.domain.agents.conclusions import activate, end
from app.domain.agents.models import Outcome
from app.domain.automations import watching
from app.domain.automations.watching import KeywordFields
from app.domain.billing.service import InsufficientCredits
from app.domain.contacts import service as contacts
from app.domain.erasure import merging
from app.domain.erasure.merging import Merge
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Acceptance, Send
from app.domain.segments import service as segments
from tests.domain.agents.conftest import PHONE, Chat
from tests.domain.conftest import UnitFor
from tests.factories.accounts import ACCOUNTS, USERS
from tests.factories.agents import AGENT_RUNS, AGENTS, add_agent
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.factories.notices import NOTICES


@pytest.fixture(autouse=True)
async def answering(chat: Chat, unit_for: UnitFor) -> None:
    """Give an agent that has answered the contact, without a notice."""
    async with unit_for(chat.account) as unit:
        await add_agent(unit)
    await chat.ask("When are you open?")
    await NOTICES.delete(chat.services)


async def notices(chat: Chat) -> list[tuple[str, str, int]]:
    await chat.dispatch()
    return await NOTICES.read(chat.services, "kind", "title", "count")


LEFT = [("new_message", "An AI agent left a text to people", 1)]


async def test_a_text_that_the_agent_answers_is_not_noticed(chat: Chat) -> None:
    assert (await chat.ask("And when do you open?"))[0] == "sent"

    assert await notices(chat) == []


async def test_a_text_outside_the_hours_of_the_agent_is_noticed_once(chat: Chat) -> None:
    await AGENTS.change(chat.services, closes_at=0)

    assert await chat.ask("Are you there?") == ("stopped", "hours")
    assert await notices(chat) == LEFT


async def test_a_text_that_asks_for_no_answer_is_not_noticed(chat: Chat) -> None:
    assert await chat.ask("Thanks") == ("stopped", "closing")

    assert await notices(chat) == []


async def test_a_text_of_a_contact_who_has_left_the_segment_of_the_agent_is_noticed(
    chat: Chat, unit_for: UnitFor
) -> None:
    async with unit_for(chat.account) as unit:
        segment = await segments.create(unit, "Members", {"field": "tags", "op": "has_any", "value": ["member"]})
        segment_id = segment.id
    await AGENTS.change(chat.services, segment_id=segment_id)

    await chat.ask("Are you there?")

    assert await AGENT_RUNS.count(chat.services) == 1
    assert await notices(chat) == LEFT


async def test_a_text_whose_run_has_failed_is_noticed(chat: Chat, unit_for: UnitFor) -> None:
    await chat.write("Are you there?")
    async with unit_for(chat.account) as unit:
        run = await queries.get_run(unit, await AGENT_RUNS.last(chat.services, "id"), lock=True)
        end(unit, run, Outcome.failed)

    assert await notices(chat) == LEFT


async def test_a_text_that_was_noticed_at_once_is_not_noticed_again(chat: Chat) -> None:
    await AGENTS.change(chat.services, mode="approve", closes_at=0)

    await chat.ask("Are you there?")

    [(kind, title, count)] = await notices(chat)
    assert (kind, title, count) == ("new_message", "New text from a contact", 1)


@pytest.mark.parametrize("change", [{"status": "paused"}, {"mode": "approve"}, {"mode": "shadow"}])
async def test_a_text_whose_agent_is_changed_before_it_answers_is_noticed_once(
    chat: Chat, change: dict[str, str]
) -> None:
    await chat.write("When do you open?")
    assert await notices(chat) == []

    await AGENTS.change(chat.services, **change)
    await chat.wait(seconds=20)
    await chat.run()

    assert await notices(chat) == LEFT


@pytest.mark.parametrize(
    ("fields", "gate"), [({"dnd_sms": True}, "dnd"), ({"held_until": datetime(2100, 1, 1, tzinfo=UTC)}, "hold")]
)
async def test_a_text_of_a_contact_whom_the_agent_may_not_text_is_noticed(
    chat: Chat, fields: dict[str, Any], gate: str
) -> None:
    await CONTACTS.change(chat.services, **fields)

    assert await chat.ask("When do you open?") == ("stopped", gate)
    assert await notices(chat) == LEFT


async def test_a_text_whose_answer_is_refused_is_noticed(chat: Chat) -> None:
    class Refusing(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            raise InsufficientCredits(needed=1, balance=0)

    assert await ask(chat, Refusing) == ("stopped", "insufficient_credits")
    assert await notices(chat) == LEFT


async def test_a_text_whose_agent_is_paused_before_the_answer_is_sent_is_noticed(chat: Chat) -> None:
    class Pausing(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await AGENTS.change(chat.services, status="paused")
            return await super().accept(actor, send)

    assert (await ask(chat, Pausing))[0] == "superseded"
    assert await notices(chat) == LEFT


async def test_a_text_whose_answer_a_newer_text_supersedes_is_not_noticed(chat: Chat) -> None:
    class Interrupted(SendAcceptor):
        async def accept(self, actor: Any, send: Send) -> Acceptance:
            await chat.write("And when do you close?")
            return await super().accept(actor, send)

    assert (await ask(chat, Interrupted))[0] == "superseded"
    assert await notices(chat) == []


async def test_the_first_text_of_a_contact_is_noticed_once_although_its_run_fails_later(
    chat: Chat, unit_for: UnitFor
) -> None:
    other = replace(chat, phone="+12025550144")
    await other.write("When are you open?")
    async with unit_for(chat.account) as unit:
        run = await queries.get_run(unit, await AGENT_RUNS.last(chat.services, "id"), lock=True)
        await activate(unit, run, await queries.get(unit, await AGENTS.only(chat.services, "id")))
        end(unit, run, Outcome.failed)

    assert await notices(chat) == [("new_message", "New text from a contact", 1)]


@pytest.mark.parametrize("is_dispatched", [True, False])
async def test_a_text_that_an_agent_was_to_answer_is_noticed_after_a_merge_with_a_contact_of_another_phone(
    chat: Chat, unit_for: UnitFor, is_dispatched: bool
) -> None:
    other = replace(chat, phone="+12025550144")
    await other.ask("When are you open?")
    await MESSAGES.where(direction="outbound").change(chat.services, status="delivered")
    await NOTICES.delete(chat.services)
    await (other.write if is_dispatched else other.receive)("How much is a haircut?")
    into, merged = [await CONTACTS.where(phone=phone).only(chat.services, "id") for phone in (PHONE, other.phone)]
    async with unit_for(chat.account) as unit:
        shown = await merging.preview(unit, Merge(into, merged))
    async with unit_for(chat.account) as unit:
        await merging.merge(unit, Merge(into, merged), shown.preview_id)
    await chat.dispatch()
    await chat.wait(seconds=60)
    await chat.run()

    assert "A haircut is $30." not in await chat.sent()
    assert await notices(chat) == LEFT


async def test_an_answer_goes_to_no_phone_that_did_not_write_and_the_text_is_noticed(
    chat: Chat, unit_for: UnitFor
) -> None:
    await chat.write("And when do you open?")
    async with unit_for(chat.account) as unit:
        id = await CONTACTS.only(chat.services, "id")
        await contacts.update(unit, id, {"phone": "+12025550177"})
    await chat.wait(seconds=20)
    await chat.run()

    assert len(await chat.sent()) == 1
    assert await AGENT_RUNS.last(chat.services, "outcome", "status") == ("superseded", "done")
    assert await notices(chat) == LEFT


async def test_an_answer_is_not_sent_without_approval_once_the_agent_needs_one(chat: Chat) -> None:
    await chat.write("And when do you open?")
    await chat.wait(seconds=20)
    await chat.run_until_suspended()
    assert await AGENT_RUNS.last(chat.services, "status") == "sending"
    await AGENTS.change(chat.services, mode="approve")
    await ACCOUNTS.change(chat.services, status="active")
    await chat.wait(seconds=60)
    await chat.run()

    assert len(await chat.sent()) == 1
    assert await notices(chat) == LEFT


async def test_the_agents_of_a_suspended_account_decide_nothing_until_it_is_active_again(chat: Chat) -> None:
    await chat.write("And when do you open?")
    await ACCOUNTS.change(chat.services, status="suspended")
    await chat.wait(seconds=20)
    await chat.run()
    between = await AGENT_RUNS.last(chat.services, "status", "outcome")

    await ACCOUNTS.change(chat.services, status="active")
    await chat.wait(minutes=5)
    await chat.run()

    assert between == ("running", None)
    assert len(await chat.sent()) == 2


async def test_a_question_is_answered_although_a_closing_text_followed_while_no_agent_could_answer(chat: Chat) -> None:
    await ACCOUNTS.change(chat.services, status="suspended")
    for body in ("And when do you open?", "Thanks!"):
        await chat.write(body)
        await chat.wait(seconds=20)
        await chat.run()
    assert len(await chat.sent()) == 1

    await ACCOUNTS.change(chat.services, status="active")
    await chat.wait(minutes=5)
    await chat.run()

    assert len(await chat.sent()) == 2
    assert await AGENT_RUNS.read(chat.services, "outcome") == ["sent", "superseded", "sent"]


@pytest.mark.parametrize(
    ("rules", "count"), [({"reply": "9 to 5."}, 2), ({"double_opt_in": True}, 2), ({"opts_in": True}, 3)]
)
async def test_a_text_that_is_a_watched_keyword_with_an_answer_gets_none_of_an_agent(
    chat: Chat, unit_for: UnitFor, rules: KeywordFields, count: int
) -> None:
    async with unit_for(chat.account) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        await watching.watch(unit, "when do you open", rules)

    await chat.ask("When do you open?")
    await chat.ask("And when do you open?")

    assert await AGENT_RUNS.read(chat.services, "outcome") == ["sent"] * count


async def test_a_question_is_answered_although_a_watched_keyword_follows_at_once(chat: Chat, unit_for: UnitFor) -> None:
    async with unit_for(chat.account) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        await watching.watch(unit, "menu", {"reply": "Soup."})

    await chat.write("And when do you open?")
    await chat.ask("MENU")

    assert await AGENT_RUNS.last(chat.services, "outcome", "messages") == ("sent", 2)


@pytest.mark.parametrize("is_noticed", [True, False])
async def test_a_text_left_by_a_merge_is_noticed_once_although_a_later_one_of_the_other_contact_was(
    chat: Chat, unit_for: UnitFor, is_noticed: bool
) -> None:
    other = replace(chat, phone="+12025550144")
    await other.write("How much is a haircut?")
    if not is_noticed:
        await NOTICES.delete(chat.services)
    await AGENTS.change(chat.services, status="paused")
    await chat.write("Hello?")
    await NOTICES.change(chat.services, read_at=datetime.now(UTC))
    before = await NOTICES.count(chat.services)
    into, merged = [await CONTACTS.where(phone=phone).only(chat.services, "id") for phone in (PHONE, other.phone)]
    async with unit_for(chat.account) as unit:
        shown = await merging.preview(unit, Merge(into, merged))
    async with unit_for(chat.account) as unit:
        await merging.merge(unit, Merge(into, merged), shown.preview_id)

    found = await notices(chat)
    assert found[before:] == ([] if is_noticed else LEFT)


async def test_the_user_who_merges_the_contacts_is_told_of_a_text_that_it_leaves(chat: Chat, unit_for: UnitFor) -> None:
    other = replace(chat, phone="+12025550144")
    await other.ask("When are you open?")
    await MESSAGES.where(direction="outbound").change(chat.services, status="delivered")
    await NOTICES.delete(chat.services)
    await other.write("How much is a haircut?")
    into, merged = [await CONTACTS.where(phone=phone).only(chat.services, "id") for phone in (PHONE, other.phone)]
    [user_id] = await USERS.read(chat.services, "id")
    async with unit_for(chat.account) as unit:
        shown = await merging.preview(unit, Merge(into, merged))
    async with unit_for(chat.account) as unit:
        unit.actor = replace(unit.actor, label=f"user:{user_id}")
        await merging.merge(unit, Merge(into, merged), shown.preview_id)

    assert await notices(chat) == LEFT


async def ask(chat: Chat, acceptor: type[SendAcceptor]) -> tuple[str | None, str | None]:
    """Receive a text that the agent answers through an acceptor; return the outcome and gate of the run."""
    services = chat.services
    await chat.write("When do you open?")
    [id] = await AGENT_RUNS.where(status="waiting").read(services, "id")
    await chat.wait(seconds=20)
    through = acceptor(services.database.pool, services.clock, services.notify, services.connections)
    await replace(chat.runner, acceptor=through).run()
    return tuple(await AGENT_RUNS.where(id=id).only(services, "outcome", "gate"))
