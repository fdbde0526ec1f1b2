"""Decide when a text that obeys quiet hours and frequency caps may leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from app.domain.kernel.time_zones import ZoneInfo
from app.domain.quiet_hours import windows
from app.domain.quiet_hours.rules import Rulebook
from app.domain.quiet_hours.windows import OPEN_WEEK, Week
from app.domain.quiet_hours.zones import Place

DAY, WEEK = timedelta(hours=24), timedelta(days=7)
LONGEST = timedelta(hours=72)
"""The longest deferral of a text: one that could leave only later is refused, or expires."""

WEEKLY_RULE = "account.week"
"""The id of the account's own cap of texts in seven days."""


class Deferral(NamedTuple):
    """The time before which a text must not leave, and the id of the rule that says so.

    The time is None where no time within two weeks is open in every zone.
    """

    until: datetime | None
    rule: str


@dataclass(frozen=True, slots=True)
class Recipient:
    """The facts about the phone of a recipient. `weekly_cap` is the account's own cap of texts in seven days.

    `attempts` are the times, in order, of the texts to the phone that count toward the caps, planned ones included.
    `within` is the part of the week in which the sender wants texts to leave.
    """

    place: Place
    book: Rulebook
    weekly_cap: int
    attempts: Sequence[datetime] = ()
    within: Week = OPEN_WEEK


class Timing(NamedTuple):
    """The decision on one text: the deferrals by a cap and by quiet hours, both until the time that satisfies both.

    `is_capped` if the cap puts it off for longer than quiet hours alone would.
    """

    place: Place
    by_cap: Deferral | None = None
    by_hours: Deferral | None = None
    is_capped: bool = False

    @property
    def deferral(self) -> Deferral | None:
        """Return the deferral that decides the time; None for a text that may leave now."""
        return self.by_hours or self.by_cap

    def is_beyond(self, latest: datetime) -> bool:
        """Return whether the text cannot leave by a time."""
        return self.deferral is not None and (self.deferral.until is None or self.deferral.until > latest)


def decide(recipient: Recipient, now: datetime, seed: int) -> Timing:
    """Return whether a text may leave now, and else when; the seed spreads texts over some minutes."""
    place, book = recipient.place, recipient.book
    capped = _find_cap(recipient, now)
    free_at = (capped.until if capped else None) or now
    week = windows.narrow(book.week(place.jurisdiction), recipient.within)
    opening = windows.find_open(free_at, place.zones, week)
    if opening == now:
        return Timing(place)
    until = opening and windows.spread(opening, seed, place.zones, week)
    by_hours = None if opening == free_at else Deferral(until, _closing_rule(recipient, free_at))
    uncapped = windows.find_open(now, place.zones, week) if capped else None
    is_capped = uncapped is not None and uncapped < free_at
    return Timing(place, capped and Deferral(until, capped.rule), by_hours, is_capped)


def _find_cap(recipient: Recipient, now: datetime) -> Deferral | None:
    """Return the deferral of the cap that frees last. Planned texts count whenever they are planned for."""
    if not recipient.attempts:
        return None
    daily = recipient.book.cap(recipient.place.jurisdiction)
    caps = [(recipient.weekly_cap, WEEK, WEEKLY_RULE)]
    if daily:
        caps.append((daily.most, DAY, daily.rule))
    counted = ((most, time, rule) for most, time, rule in caps if len(recipient.attempts) >= most)
    free = (Deferral(recipient.attempts[-most] + time, rule) for most, time, rule in counted)
    return max((each for each in free if each.until and each.until > now), default=None)


def _closing_rule(recipient: Recipient, instant: datetime) -> str:
    """Return the id of the shortest of the windows that are closed in the first closed zone."""
    jurisdiction = recipient.place.jurisdiction
    for zone in recipient.place.zones:
        local = instant.astimezone(ZoneInfo(zone))
        rules = list(recipient.book.rules_on(jurisdiction, local.weekday()))
        closed = [rule for rule in rules if 60 * local.hour + local.minute not in rule.span]
        if closed:
            return min(closed, key=lambda rule: rule.span.end - rule.span.start).id
    return jurisdiction
