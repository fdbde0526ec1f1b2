"""Findings about campaigns, and the test by which shares are compared."""

import enum
import math
from dataclasses import dataclass

SIGNIFICANT = 0.01
"""The chance of a difference below which it is taken for one; divided by the number of differences looked at."""

FEWEST = 30
"""The number of final results below which a share says nothing."""


BASELINE_DAYS = 28
"""The days before a campaign whose results are the usual ones of a number and of the account."""


class FindingCode(enum.StrEnum):
    """The code of a finding."""

    still_running = enum.auto()
    paused = enum.auto()
    credits_exhausted = enum.auto()
    audience_shrink = enum.auto()
    delivery_below_usual = enum.auto()
    number_below_usual = enum.auto()
    hour_below_others = enum.auto()
    area_below_others = enum.auto()
    number_health = enum.auto()
    filtered = enum.auto()
    sender_refused = enum.auto()
    landlines = enum.auto()
    opt_outs = enum.auto()
    many_segments = enum.auto()
    stale_contacts = enum.auto()
    deferred = enum.auto()
    throttled = enum.auto()
    no_opt_out_text = enum.auto()


class Verdict(enum.StrEnum):
    """The weight of a finding."""

    note = enum.auto()
    warning = enum.auto()
    problem = enum.auto()


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: its code, its weight, the figures in a sentence, and what to do."""

    code: FindingCode
    verdict: Verdict
    text: str
    fix: str


def compare(successes: int, trials: int, other_successes: int, other_trials: int) -> float:
    """Return the two-sided p of the two-proportion z test: how likely chance makes such a difference."""
    pooled = (successes + other_successes) / (trials + other_trials)
    error = math.sqrt(pooled * (1 - pooled) * (1 / trials + 1 / other_trials))
    if error == 0:
        return 1.0
    z = abs(successes / trials - other_successes / other_trials) / error
    return math.erfc(z / math.sqrt(2))
