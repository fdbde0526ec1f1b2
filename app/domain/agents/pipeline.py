"""Decides on the action of an agent for a message: gates, retrieval, draft, checks. It sends and stores nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.agents import disclosure, gates, retrieval
from app.domain.agents.gates import Action, GateName, Verdict
from app.domain.agents.signals import Signal
from app.domain.agents.situations import Situation
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates import lint
from app.domain.templates.lint import Sender, Severity
from app.domain.writing import drafting
from app.domain.writing.drafting import REASONS, Draft, Writers
from app.domain.writing.writer import ANSWERED, Brief, Failure, Passage

UNGROUNDED = "The knowledge has no passage that is close enough to the message."
NO_ANSWER = "No AI is connected, and no question of the FAQ is close enough to the message."

_GRAVE = (Severity.error, Severity.high)
_PERSON = r"(?:an? )?(?:real |actual |live )?(?:human|person)\b(?! (?:will|can|could|may|might|must|should|would)\b)"
_MACHINE = r"(?:bot|chatbot|robot|machine|computer|AI|automated \w+)\b"
_CLAIM = re.compile(
    rf"\bI(?:['’]m| am) (?:[\w'’-]+(?: [\w'’-]+)?, )?{_PERSON}"
    rf"|\b(?:this is|you(?:['’]re| are) (?:talking|speaking|chatting|texting) (?:to|with)) {_PERSON}"
    rf"|\bnot an? {_MACHINE}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdicts, the retrieved passages, and the draft or another outcome.

    With a `brief`, the writer is still to be asked. `drafted` is its paid call; other drafts are free. `opening` is
    the beginning of every text, also that of a hand-over: that a machine writes, where the contact asked.
    """

    verdicts: Sequence[Verdict]
    passages: Sequence[Passage] = ()
    brief: Brief | None = None
    text: str | None = None
    drafted: Draft | None = None
    opening: str = ""

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict that decided against a draft."""
        return gates.decisive(self.verdicts)

    @property
    def summary(self) -> str:
        """Return the reason and the text of the contact, for the person who takes over."""
        verdict = self.verdict
        known = f" The knowledge has: {self.passages[0].title}." if self.passages else ""
        return f"{verdict.reason if verdict else ''}{known}".strip()


async def consider(unit: UnitOfWork, writers: Writers, situation: Situation) -> Decision:
    """Return the decision of the gates and of retrieval; no writer is asked."""
    verdicts, message = gates.check(situation.facts), situation.message
    company = situation.company_name or "this business"
    is_asked = Signal.identity in situation.facts.signals
    opening = disclosure.OPENING.format(company=company) if is_asked else ""
    if gates.decisive(verdicts):
        return Decision(verdicts, opening=opening)
    if is_asked and not (message := disclosure.remainder(message)):
        return Decision(verdicts, text=disclosure.DISCLOSURE.format(company=company))
    passages = await retrieval.find(unit, situation.agent.id, message)
    if not _is_grounded(writers, passages):
        reason = UNGROUNDED if writers.model else NO_ANSWER
        return Decision([*verdicts, Verdict(GateName.grounding, Action.hand_over, reason)], passages, opening=opening)
    grounded = [*verdicts, Verdict(GateName.grounding, Action.passed)]
    return Decision(grounded, passages, replace(situation.brief(passages), opening=opening), opening=opening)


async def write(writers: Writers, decision: Decision) -> Decision:
    """Return the decision with a checked draft, or with the verdict on it; no transaction is open meanwhile."""
    assert decision.brief
    drafted = await drafting.draft(writers, decision.brief)
    found = replace(decision, brief=None, drafted=drafted)
    if refused := _refuse(drafted, decision.brief):
        return replace(found, verdicts=[*decision.verdicts, refused])
    passed = [Verdict(GateName.provider, Action.passed), Verdict(GateName.output, Action.passed)]
    return replace(found, verdicts=[*decision.verdicts, *passed], text=decision.brief.opened(drafted.texts[0]))


def find_faults(text: str, brief: Brief) -> list[str]:
    """Return the faults of a reply beside those that every text is checked for."""
    said = " ".join(brief.sources).lower()
    grave = [each for each in lint.check(text, Sender(brief.company_name)) if each.severity in _GRAVE]
    faults = [each.text for each in grave if text[each.start : each.end].lower() not in said]
    return [*faults, *(["It says that a person writes."] if _CLAIM.search(text) else [])]


def _is_grounded(writers: Writers, passages: Sequence[Passage]) -> bool:
    """Return whether a passage is close enough; without a model it must be an answer."""
    if writers.model is None:
        return any(each.is_answer and each.score >= ANSWERED for each in passages)
    return any(each.score >= retrieval.GROUNDED for each in passages)


def _refuse(drafted: Draft, brief: Brief) -> Verdict | None:
    if drafted.failure is Failure.faulty:
        return Verdict(GateName.output, Action.hand_over, " ".join(drafted.faults) or REASONS[Failure.faulty])
    if drafted.failure:
        return Verdict(GateName.provider, Action.hand_over, f"The AI failed: {REASONS[drafted.failure]}.")
    if not drafted.texts:
        return Verdict(GateName.grounding, Action.hand_over, drafted.needs_person or UNGROUNDED)
    faults = find_faults(drafted.texts[0], brief)
    return Verdict(GateName.output, Action.hand_over, " ".join(faults)) if faults else None
