"""Gates of AI agents: pure functions of facts, outside the model. The first that does not pass decides."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from app.domain.agents.models import Agent, AgentStatus
from app.domain.agents.signals import Signal

WINDOW = timedelta(hours=24)
EXCHANGES, EXCHANGE_SECONDS, REPETITIONS, UNHELPFUL = 3, 10, 2, 2


class Action(enum.StrEnum):
    """Consequence of a gate. A conversation is handed over with one message, or silently."""

    passed = enum.auto()
    stop = enum.auto()
    hand_over = enum.auto()
    hand_over_silently = enum.auto()


class GateName(enum.StrEnum):
    """The name of a gate, in the order in which they are checked."""

    agent = enum.auto()
    opt_out = enum.auto()
    dnd = enum.auto()
    hold = enum.auto()
    consent = enum.auto()
    person_answers = enum.auto()
    handed_over = enum.auto()
    automatic = enum.auto()
    closing = enum.auto()
    window = enum.auto()
    loop = enum.auto()
    message_limit = enum.auto()
    unanswered_limit = enum.auto()
    daily_limit = enum.auto()
    hours = enum.auto()
    injection = enum.auto()
    person_wanted = enum.auto()
    anger = enum.auto()
    legal = enum.auto()
    medical = enum.auto()
    dispute = enum.auto()
    promise = enum.auto()
    unhelpful = enum.auto()
    credits = enum.auto()
    grounding = enum.auto()
    output = enum.auto()
    provider = enum.auto()


class Verdict(NamedTuple):
    """The verdict of a gate, with a sentence unless it passes."""

    gate: GateName
    action: Action
    reason: str = ""


class Turn(NamedTuple):
    """A message of the conversation. `is_person` for one that a person of the account sent.

    `answered_keyword` is the keyword in it that the carrier answered. `id` is None for one that was never sent.
    """

    is_inbound: bool
    body: str
    at: datetime
    is_agent: bool = False
    is_person: bool = False
    answered_keyword: str | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts by which the gates decide. `turns` are the latest messages of the conversation, the oldest first.

    `minute` and `weekday` are those of the account's time zone. `signals` are those of all messages of the burst.
    `own_since_person` is the number of the agents' messages of the window after the last one of a person.
    """

    agent: Agent
    now: datetime
    minute: int
    weekday: int
    is_opted_out: bool = False
    has_dnd: bool = False
    is_held: bool = False
    ai_state: str = "none"
    runs_today: int = 0
    own_since_person: int = 0
    balance: int = 1
    is_test: bool = False
    signals: frozenset[Signal] = frozenset()
    turns: Sequence[Turn] = field(default_factory=tuple)

    @property
    def inbound(self) -> list[Turn]:
        """Return the inbound messages, the newest first."""
        return [turn for turn in reversed(self.turns) if turn.is_inbound]

    @property
    def own_unanswered(self) -> int:
        """Return the number of the agent's messages after the contact's last one."""
        count = 0
        for turn in reversed(self.turns):
            if turn.is_inbound:
                break
            count += turn.is_agent
        return count


def _is_paused(facts: Facts) -> bool:
    return facts.agent.status != AgentStatus.active and not facts.is_test


def _is_closed(facts: Facts) -> bool:
    agent = facts.agent
    if agent.days and facts.weekday not in agent.days:
        return True
    return not agent.opens_at <= facts.minute < agent.closes_at


def _person_answers(facts: Facts) -> bool:
    if facts.ai_state == "paused":
        return True
    if facts.ai_state == "active":
        return False
    return any(turn.is_person and turn.at > facts.now - WINDOW for turn in facts.turns)


def _is_late(facts: Facts) -> bool:
    return not facts.inbound or facts.inbound[0].at <= facts.now - WINDOW


def _loops(facts: Facts) -> bool:
    return _repeats(facts) or _ping_pongs(facts)


def _repeats(facts: Facts) -> bool:
    """Tell whether the contact sent the same text again and again, with answers in between."""
    if not any(turn.is_agent for turn in facts.turns):
        return False
    said = [" ".join(turn.body.lower().split()) for turn in facts.inbound]
    return len(said) > REPETITIONS and len(set(said[: REPETITIONS + 1])) == 1


def _ping_pongs(facts: Facts) -> bool:
    """Tell whether the last answers to the agent each came faster than a person types."""
    quick = 0
    for before, turn in zip(reversed(facts.turns[:-1]), reversed(facts.turns[1:]), strict=True):
        if not turn.is_inbound:
            continue
        if not before.is_agent or turn.at - before.at >= timedelta(seconds=EXCHANGE_SECONDS):
            break
        quick += 1
    return quick >= EXCHANGES


def _is_unhelpful(facts: Facts) -> bool:
    answered = [turn for turn in facts.turns if turn.is_agent]
    return Signal.unhelpful in facts.signals and len(answered) >= UNHELPFUL


def _has(signal: Signal) -> Callable[[Facts], bool]:
    return lambda facts: signal in facts.signals


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: the condition that closes it, its action, and the sentence."""

    name: GateName
    is_closed: Callable[[Facts], bool]
    action: Action
    reason: str


GATES = (
    Gate(GateName.agent, _is_paused, Action.stop, "The agent is paused."),
    Gate(GateName.opt_out, lambda f: f.is_opted_out, Action.stop, "The contact has opted out."),
    Gate(GateName.dnd, lambda f: f.has_dnd, Action.stop, "The contact is set to do-not-disturb."),
    Gate(GateName.hold, lambda f: f.is_held, Action.stop, "The contact may have opted out: a person decides."),
    Gate(GateName.consent, _has(Signal.consent), Action.stop, "The message is about consent, which needs no agent."),
    Gate(GateName.person_answers, _person_answers, Action.stop, "A person answers in this conversation."),
    Gate(GateName.handed_over, lambda f: f.ai_state == "handed_over", Action.stop, "It was handed over to people."),
    Gate(GateName.automatic, _has(Signal.automatic), Action.stop, "The message is an automatic one, or a reaction."),
    Gate(GateName.closing, _has(Signal.closing), Action.stop, "The message asks for no answer."),
    Gate(GateName.window, _is_late, Action.stop, "The contact's last message is older than 24 hours."),
    Gate(GateName.loop, _loops, Action.hand_over_silently, "The messages look like those of another machine."),
    Gate(
        GateName.message_limit,
        lambda f: f.own_since_person >= f.agent.max_messages,
        Action.hand_over_silently,
        "The agent has sent the most messages that it may without a person.",
    ),
    Gate(
        GateName.unanswered_limit,
        lambda f: f.own_unanswered >= f.agent.max_unanswered,
        Action.stop,
        "The agent has sent the most messages that it may without an answer.",
    ),
    Gate(
        GateName.daily_limit,
        lambda f: f.runs_today >= f.agent.daily_limit,
        Action.hand_over_silently,
        "The agent has answered the most messages that it may in a day.",
    ),
    Gate(GateName.hours, _is_closed, Action.stop, "It is outside the hours of the agent."),
    Gate(GateName.injection, _has(Signal.injection), Action.hand_over, "The message tries to instruct the agent."),
    Gate(GateName.person_wanted, _has(Signal.person), Action.hand_over, "The contact asks for a person."),
    Gate(GateName.anger, _has(Signal.anger), Action.hand_over, "The contact is angry."),
    Gate(GateName.legal, _has(Signal.legal), Action.hand_over, "The message is about a legal matter."),
    Gate(GateName.medical, _has(Signal.medical), Action.hand_over, "The message is about health or an emergency."),
    Gate(GateName.dispute, _has(Signal.dispute), Action.hand_over, "The message is about a bill or a refund."),
    Gate(GateName.promise, _has(Signal.promise), Action.hand_over, "The contact asks for a discount or a promise."),
    Gate(GateName.unhelpful, _is_unhelpful, Action.hand_over, "The agent's answers did not help."),
    Gate(GateName.credits, lambda f: f.balance < 1, Action.hand_over_silently, "The account has no credits."),
)


def check(facts: Facts) -> list[Verdict]:
    """Return the verdicts of the gates up to the first that does not pass, in order."""
    verdicts: list[Verdict] = []
    for gate in GATES:
        if gate.is_closed(facts):
            return [*verdicts, Verdict(gate.name, gate.action, gate.reason)]
        verdicts.append(Verdict(gate.name, Action.passed))
    return verdicts


def decisive(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Return the verdict that does not pass, if there is one."""
    return next((each for each in verdicts if each.action is not Action.passed), None)
