"""What AI agents do about the texts of contacts."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.agents import drafts, service, suggestions
from app.domain.agents.disclosure import DISCLOSURE
from app.domain.agents.models import AgentStatus
from app.domain.billing import service as billing
from app.domain.conversations import service as conversations
from app.domain.kernel.errors import Conflict, InsufficientScope
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import replies
from app.domain.writing.writer import Failure
from tests.conftest import unit_of
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.domain.writing.writers import Typist, writers
from tests.factories.accounts import ACCOUNTS, USERS
from tests.factories.agents import AGENT_RUNS, AGENTS, FAQ, add_agent
from tests.factories.billing import balance_of
from tests.factories.conversations import CONVERSATION_ENTRIES, CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.writing import WRITER_CALLS

OPEN, PRICE = FAQ["When are you open?"], FAQ["How much is a haircut?"]


@pytest.fixture
async def agent(chat: Chat, unit_for: UnitFor) -> int:
    """Provide an active agent in mode auto."""
    async with unit_for(chat.account) as unit:
        return await add_agent(unit)


async def state_of(chat: Chat) -> str:
    return await CONVERSATIONS.only(chat.services, "ai_state")


async def change(chat: Chat, unit_for: UnitFor, agent: int, **fields: Any) -> None:
    async with unit_for(chat.account) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        await service.update(unit, agent, fields)


async def test_an_answer_of_the_faq_is_sent_once_as_the_agent_for_one_credit_and_the_text(
    chat: Chat, agent: int
) -> None:
    assert await chat.ask("Hi, what time do you open tomorrow?") == ("sent", None)

    assert await chat.sent() == [OPEN]
    run = await AGENT_RUNS.only(chat.services)
    assert (run["status"], run["draft"], run["provider"], run["credits"]) == ("done", OPEN, "template", 1)
    assert run["passages"][0]["title"] == "When are you open?"
    assert [each["gate"] for each in run["gates"]][-3:] == ["grounding", "provider", "output"]
    assert await balance_of(chat.services) == 998
    assert await state_of(chat) == "active"


async def test_a_question_that_the_faq_does_not_answer_is_handed_over_with_one_text(chat: Chat, agent: int) -> None:
    assert await chat.ask("Do you sell gift cards for weddings?") == ("handed_over", "grounding")
    assert await chat.ask("Hello?") == ("stopped", "handed_over")

    assert await chat.sent() == [service.HAND_OVER]
    assert await state_of(chat) == "handed_over"
    assert await WRITER_CALLS.count(chat.services) == 0
    summary = (await AGENT_RUNS.read(chat.services, "summary"))[0]
    assert summary.startswith("Robin handed over: No AI is connected, and no question of the FAQ")
    assert await CONVERSATION_ENTRIES.where(kind="note").only(chat.services, "body", "actor") == (
        summary,
        f"agent:{agent}",
    )


@pytest.mark.parametrize("is_removed", [False, True])
async def test_a_conversation_is_handed_to_the_user_whom_the_agent_names_unless_the_user_was_removed(
    chat: Chat, agent: int, unit_for: UnitFor, *, is_removed: bool
) -> None:
    user = await USERS.where(account_id=chat.account.account_id).only(chat.services, "id")
    await change(chat, unit_for, agent, hand_over_to=user)
    if is_removed:
        await USERS.where(id=user).change(chat.services, removed_at=chat.clock.now())

    assert await chat.ask("I want to talk to a human") == ("handed_over", "person_wanted")
    assert await CONVERSATIONS.only(chat.services, "assignee_id") == (None if is_removed else user)


async def test_texts_of_a_burst_are_answered_together(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    await change(chat, unit_for, agent, debounce_seconds=300)
    await chat.write("Hi")
    await chat.wait(seconds=30)
    await chat.write("When are you open?")
    await chat.wait(seconds=285)
    await chat.run()
    assert await chat.sent() == []
    await chat.wait(seconds=30)
    await chat.run()

    assert await chat.sent() == [OPEN]
    assert await AGENT_RUNS.only(chat.services, "messages") == 2


async def test_the_contacts_of_an_account_do_not_wait_for_all_those_of_another(
    chat: Chat, agent: int, unit_for: UnitFor, new_account: Callable[..., Any]
) -> None:
    for number in range(3):
        await replace(chat, phone=f"+1202555019{number}").write("When are you open?")
    other = replace(chat, account=await new_account())
    async with unit_for(other.account) as unit:
        await add_agent(unit)
    await other.write("When are you open?")
    await other.wait(seconds=20)

    await replace(other.runner, batch=2).run()

    assert await other.own_texts() == [OPEN]
    assert await chat.own_texts() == [OPEN]


async def test_a_burst_without_end_is_answered_within_a_minute(chat: Chat, agent: int) -> None:
    for _ in range(17):
        await chat.write("When are you open?")
        await chat.wait(seconds=4)
    await chat.run()

    assert await AGENT_RUNS.where(status="done").count(chat.services) >= 1


async def test_a_person_who_answers_pauses_the_agent_until_it_is_released(
    chat: Chat, agent: int, unit_for: UnitFor
) -> None:
    await chat.ask("When are you open?")
    conversation = await CONVERSATIONS.only(chat.services, "id")
    person = Actor(chat.account.account_id, frozenset(), "user:1")
    async with unit_of(chat.services, person) as unit:
        await replies.reply(unit, chat.services.acceptor, conversation, replies.Reply("Ann here."))

    assert await state_of(chat) == "paused"
    assert await chat.ask("How much is a haircut?") == ("stopped", "person_answers")
    async with unit_for(chat.account) as unit:
        await conversations.release_ai(unit, conversation)
    assert await chat.ask("And how much is a haircut?") == ("sent", None)


async def test_a_draft_waits_for_approval_and_is_sent_or_discarded_once(
    chat: Chat, agent: int, unit_for: UnitFor
) -> None:
    await change(chat, unit_for, agent, mode="approve")
    assert await chat.ask("When are you open?") == ("drafted", None)
    assert await chat.ask("How much is a haircut?") == ("drafted", None)
    first, second = await AGENT_RUNS.read(chat.services, "id")
    async with unit_for(chat.account) as unit:
        await drafts.approve(unit, first, "From 9 to 5, Ann.")
        await drafts.discard(unit, second)
    for run in (first, second):
        async with unit_for(chat.account) as unit:
            with pytest.raises(Conflict, match="has no draft that waits for approval"):
                await drafts.approve(unit, run)
    await chat.run()

    assert await chat.sent() == ["From 9 to 5, Ann."]
    assert await AGENT_RUNS.read(chat.services, "outcome", "decided_by") == [("sent", "test"), ("discarded", "test")]


async def test_a_draft_is_not_approved_after_a_day(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    await change(chat, unit_for, agent, mode="approve")
    await chat.ask("When are you open?")
    run = await AGENT_RUNS.only(chat.services, "id")
    await chat.wait(hours=24)
    async with unit_for(chat.account) as unit:
        unit.clock = chat.clock
        with pytest.raises(Conflict, match="older than 24 hours"):
            await drafts.approve(unit, run)

    assert await chat.sent() == []


async def test_an_agent_in_shadow_mode_sends_and_changes_nothing(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    await change(chat, unit_for, agent, mode="shadow")

    assert await chat.ask("When are you open?") == ("recorded", None)
    assert await chat.ask("I want a human") == ("recorded", "person_wanted")
    assert (await chat.sent(), await state_of(chat)) == ([], "none")
    assert await AGENT_RUNS.read(chat.services, "draft") == [OPEN, None]


async def test_the_agent_answers_that_it_is_a_machine_when_asked(chat: Chat, agent: int) -> None:
    assert await chat.ask("Are you a bot or a real person?") == ("sent", None)

    assert await chat.sent() == [DISCLOSURE.format(company="Blue Door")]
    assert await balance_of(chat.services) == 999


async def test_a_model_answers_from_the_passages_and_is_held_to_them(chat: Chat, agent: int) -> None:
    good, bad = "It is $30.", "It is $25 for you."
    model = Typist([[bad], [good], [bad]])
    chat.writers = writers(model)

    assert await chat.ask("How much is a haircut?") == ("sent", None)
    assert await chat.ask("How much is the haircut again") == ("handed_over", "output")
    assert await chat.sent() == [good, service.HAND_OVER]
    assert model.briefs[0].passages[0].text == PRICE
    assert [turn.body for turn in model.briefs[0].turns] == ["How much is a haircut?"]
    assert await WRITER_CALLS.read(chat.services, "status", "failure") == [("done", None), ("refunded", "faulty")]


@pytest.mark.parametrize(
    ("answer", "gate"),
    [
        (Failure.timeout, "provider"),
        ("The customer is unclear.", "grounding"),
        (["I am a real person, it is $30."], "output"),
        (["See bit.ly/x3 for $30."], "output"),
    ],
)
async def test_a_failed_or_unsuitable_answer_is_handed_over_and_refunded(
    chat: Chat, agent: int, answer: Any, gate: str
) -> None:
    chat.writers = writers(Typist([answer]))

    assert await chat.ask("How much is a haircut?") == ("handed_over", gate)
    assert await chat.sent() == [service.HAND_OVER]
    assert await balance_of(chat.services) == 999


async def test_a_reply_with_hundreds_of_faults_is_handed_over_at_once(chat: Chat, agent: int) -> None:
    chat.writers = writers(Typist([[" ".join(map(str, range(1000, 1200)))]]))

    assert await chat.ask("How much is a haircut?") == ("handed_over", "output")


async def test_a_text_that_arrives_during_the_draft_supersedes_it(chat: Chat, agent: int) -> None:
    async def interrupt() -> None:
        model.before = None
        await chat.write("Sorry, I mean on Friday?")

    model = Typist([["From 9 to 5."]], before=interrupt)
    chat.writers = writers(model)
    await chat.ask("When are you open?")

    assert await AGENT_RUNS.read(chat.services, "outcome") == ["superseded", None]
    assert await chat.sent() == []


async def test_a_worker_that_dies_after_the_draft_has_it_sent_once(chat: Chat, agent: int) -> None:
    class Dead(Exception):
        pass

    class DyingAcceptor:
        async def accept(self, *sent: Any) -> Any:
            await chat.services.acceptor.accept(*sent)
            raise Dead

    await chat.write("When are you open?")
    await chat.wait(seconds=20)
    dying: Any = DyingAcceptor()
    with pytest.raises(Dead):
        await replace(chat.runner, acceptor=dying).run()
    assert await AGENT_RUNS.only(chat.services, "status") == "sending"
    await chat.wait(minutes=3)
    await chat.run()
    await chat.run()

    assert await chat.sent() == [OPEN]
    assert await AGENT_RUNS.only(chat.services, "outcome", "attempts") == ("sent", 2)


async def test_a_paused_agent_answers_nothing(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    await chat.write("When are you open?")
    async with unit_for(chat.account) as unit:
        await service.set_status(unit, agent, AgentStatus.paused)
    await chat.wait(seconds=20)
    await chat.run()
    await chat.write("When are you open?")

    assert (await AGENT_RUNS.count(chat.services), await chat.sent()) == (0, [])


async def test_an_agent_without_credits_hands_over_silently(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    async with unit_for(chat.account) as unit:
        await billing.grant(unit, -1000, "test")

    assert await chat.ask("When are you open?") == ("handed_over", "credits")
    assert await chat.sent() == []


async def test_a_trial_shows_the_decision_and_sends_nothing(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    found = []
    for message in ("When are you open?", "I want to talk to a human", "Do you sell cars?"):
        async with unit_for(chat.account) as unit:
            trial = await drafts.try_out(unit, chat.writers, agent, message)
        verdict = trial.decision.verdict
        found.append((trial.decision.text, verdict and str(verdict.gate), trial.credits, trial.credits_remaining))

    assert found == [(OPEN, None, 1, 999), (None, "person_wanted", 0, 999), (None, "grounding", 0, 999)]
    assert (await AGENT_RUNS.count(chat.services), await chat.sent()) == (0, [])


async def test_a_reply_is_suggested_for_one_credit_or_refunded(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    await chat.write("When are you open?")
    conversation = await CONVERSATIONS.only(chat.services, "id")
    found = []
    for by in (chat.writers, writers(Typist([["It is $5."]]))):
        async with unit_for(chat.account) as unit:
            suggestion = await suggestions.suggest(unit, by, conversation)
        found.append((suggestion.text, suggestion.credits_remaining, suggestion.reason is None))

    assert found == [(OPEN, 999, True), (None, 999, False)]
    assert await chat.sent() == []


async def test_agents_share_the_numbers_of_an_account_by_their_scope(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    async with unit_for(chat.account) as unit:
        narrow = await add_agent(unit, {"number_ids": [await number_of(chat)]}, **{"When are you open?": "At 8."})
    await chat.ask("When are you open?")

    assert await chat.sent() == ["At 8."]
    assert await AGENT_RUNS.only(chat.services, "agent_id") == narrow
    assert await AGENTS.count(chat.services) == 2


async def number_of(chat: Chat) -> int:

    return await PHONE_NUMBERS.where(phone_number=chat.account.phone_number).only(chat.services, "id")


async def test_a_text_that_waits_for_a_suspended_account_is_not_sent_once_the_agent_is_paused_or_the_day_is_over(
    chat: Chat, agent: int, unit_for: UnitFor
) -> None:
    for number, is_paused in enumerate((True, False), 1):
        await chat.write("When are you open?")
        await chat.wait(seconds=20)
        await chat.run_until_suspended()
        assert await AGENT_RUNS.last(chat.services, "status") == "sending"

        await ACCOUNTS.change(chat.services, status="active")
        async with unit_for(chat.account) as unit:
            unit.actor = replace(unit.actor, scopes=ALL)
            await service.set_status(unit, agent, AgentStatus.paused if is_paused else AgentStatus.active)
        if not is_paused:
            last = AGENT_RUNS.where(status="sending")
            await last.change(chat.services, created_at=chat.clock.now() - timedelta(hours=25))
        await chat.wait(minutes=1)
        await chat.run()

        assert await AGENT_RUNS.read(chat.services, "outcome") == ["superseded"] * number
        assert await chat.sent() == []
        async with unit_for(chat.account) as unit:
            unit.actor = replace(unit.actor, scopes=ALL)
            await service.set_status(unit, agent, AgentStatus.active)


async def test_an_agent_that_may_send_fifty_texts_stops_after_fifty_however_long_the_conversation_is(
    chat: Chat, agent: int, unit_for: UnitFor
) -> None:
    await change(chat, unit_for, agent, max_messages=50)
    await chat.ask("When are you open?")
    message = dict(await MESSAGES.where(direction="outbound").only(chat.services))
    message |= {"credits": 0}
    del message["id"]
    for _ in range(48):
        await MESSAGES.insert(chat.services, **message)

    assert await chat.ask("How much is a haircut?") == ("sent", None)
    assert await chat.ask("Where can I park?") == ("handed_over", "message_limit")


async def test_creating_changing_or_activating_an_auto_agent_needs_the_scope_to_send(
    unit_for: UnitFor, chat: Chat, agent: int
) -> None:
    without = ALL - {"messages:send"}
    for verb, arguments in (
        (service.create, ({"name": "Other", "mode": "auto"},)),
        (service.update, (agent, {"instructions": "Be rude."})),
        (service.set_status, (agent, AgentStatus.active)),
    ):
        async with unit_for(chat.account) as unit:
            unit.actor = replace(unit.actor, scopes=without)
            with pytest.raises(InsufficientScope, match="messages:send"):
                await verb(unit, *arguments)
            await unit.session.rollback()

    assert await AGENTS.read(chat.services, "instructions") == ["Be brief."]
