"""Signs of spam of a sending number, from the account's own results: no public register of such labels can be asked."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.domain.deliverability import health
from app.domain.deliverability.health import FEWEST, Figures
from app.domain.kernel.unit_of_work import UnitOfWork

FILTERED, OPT_OUTS, ANSWERED = 0.01, 0.01, 0.01
"""Shares of the texts of a week: more were filtered, or answered by an opt-out, than usual; fewer were answered."""

ENOUGH = 200
"""Delivered texts from which the lack of answers is significant."""

OWN_RESULTS = "The results of the last 7 days of this number, against the 28 days before."
NO_REGISTER = (
    "No public register says which numbers carriers, phones or apps label as spam for texts, so none was asked. That "
    "nothing is found here does not mean that no carrier filters the number."
)


class SpamSign(enum.StrEnum):
    """The code of a sign of spam."""

    filtered = enum.auto()
    opt_outs = enum.auto()
    sender_refused = enum.auto()
    unanswered = enum.auto()
    volume_jump = enum.auto()


class SourceName(enum.StrEnum):
    """The name of a source of signs of spam."""

    own_results = enum.auto()
    public_registers = enum.auto()


@dataclass(frozen=True, slots=True)
class SpamFinding:
    """A sign of spam with its figures, and what to do."""

    code: SpamSign
    text: str
    fix: str


@dataclass(frozen=True, slots=True)
class SpamSource:
    """Something that could tell of spam, and whether it was asked."""

    name: SourceName
    is_asked: bool
    text: str


SOURCES = (
    SpamSource(SourceName.own_results, True, OWN_RESULTS),
    SpamSource(SourceName.public_registers, False, NO_REGISTER),
)


@dataclass(frozen=True, slots=True)
class SpamCheck:
    """The findings about a number; it is `flagged` if there are any. With `low_sample`, too few texts were sent."""

    flagged: bool
    low_sample: bool
    findings: Sequence[SpamFinding]
    sources: Sequence[SpamSource] = SOURCES


async def check(unit: UnitOfWork, phone_number_id: int) -> SpamCheck:
    """Return the signs of spam of an active number; raise `NotFound`."""
    _, recent, before = await health.read(unit, phone_number_id)
    findings = find(recent, before)
    return SpamCheck(bool(findings), recent.final + recent.refused < FEWEST, findings)


def find(recent: Figures, before: Figures) -> list[SpamFinding]:
    """Return the signs of spam in the figures of 7 days, against those of the 28 days before them."""
    return [finding for rule in RULES if (finding := rule(recent, before))]


def _filtered(recent: Figures, _: Figures) -> SpamFinding | None:
    if recent.final < FEWEST or recent.filtered <= FILTERED * recent.final:
        return None
    text = f"Carriers filtered {recent.filtered} of {recent.final} texts as unwanted."
    return SpamFinding(SpamSign.filtered, text, "Name your business, avoid shortened links, and register the number.")


def _opt_outs(recent: Figures, _: Figures) -> SpamFinding | None:
    if recent.delivered < FEWEST or recent.opt_outs <= OPT_OUTS * recent.delivered:
        return None
    text = f"{recent.opt_outs} of {recent.delivered} delivered texts led to an opt-out within 24 hours."
    return SpamFinding(SpamSign.opt_outs, text, "Text only contacts who expect it, and less often.")


def _refused(recent: Figures, _: Figures) -> SpamFinding | None:
    if not recent.refused:
        return None
    text = f"The carrier refused {recent.refused} texts for the sender or its account."
    return SpamFinding(SpamSign.sender_refused, text, "Finish the number's registration.")


def _unanswered(recent: Figures, _: Figures) -> SpamFinding | None:
    if recent.delivered < ENOUGH or recent.replies >= ANSWERED * recent.delivered:
        return None
    text = f"{recent.replies} replies to {recent.delivered} delivered texts."
    return SpamFinding(SpamSign.unanswered, text, "Write texts that people answer; carriers watch one-way traffic.")


def _volume(recent: Figures, before: Figures) -> SpamFinding | None:
    if not (text := health.find_jump(recent, before)):
        return None
    return SpamFinding(SpamSign.volume_jump, text, "Raise the volume of a number step by step.")


RULES: Sequence[Callable[[Figures, Figures], SpamFinding | None]] = (
    _filtered,
    _opt_outs,
    _refused,
    _unanswered,
    _volume,
)
