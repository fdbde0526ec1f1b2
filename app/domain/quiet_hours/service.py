"""Change the quiet hours of an account: add rules beside those of law, and remove them."""

from collections.abc import Sequence
from dataclasses import dataclass

from phonenumbers import SUPPORTED_REGIONS
from sqlalchemy import delete

from app.domain.accounts import audit
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.quiet_hours import queries
from app.domain.quiet_hours.area_codes import PROVINCES, STATES
from app.domain.quiet_hours.errors import BelowLegalMinimum
from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.models import CappedText, QuietHoursRule
from app.domain.quiet_hours.rules import ANYWHERE, EVERY_DAY, Rule, Weekday, clock, minute_of

MAX_RULES, MAX_CAP, MAX_REASON = 100, 1000, 500
JURISDICTIONS = frozenset(
    {ANYWHERE, *SUPPORTED_REGIONS, *(f"US-{state}" for state in STATES), *(f"CA-{state}" for state in PROVINCES)}
)


@dataclass(frozen=True, slots=True)
class NewRule:
    """A rule to add: a window such as 10:00 to 18:00, on some weekdays, or on all with the most texts in 24 hours.

    A window that ends when it starts closes the whole day.
    """

    jurisdiction: str
    start: str
    end: str
    weekdays: Sequence[Weekday] = ()
    cap: int | None = None
    overrides_law: bool = False
    reason: str = ""


async def add(unit: UnitOfWork, new: NewRule) -> Rule:
    """Add a rule to those of law, and record it in the audit log.

    A rule that allows more than the law's raises `BelowLegalMinimum`, unless it overrides that for a stated reason.
    Raises `InvalidInput`, and `Conflict` for one rule too many.
    """
    row = _row(unit, new)
    await accounts.lock_own(unit)
    if await queries.count_own(unit) >= MAX_RULES:
        raise Conflict(reason=f"An account has at most {MAX_RULES} rules of its own.")
    await unit.save(row)
    rule = queries.rule_of(row)
    if not rule.overrides_law:
        _check_strict(rule)
    await _record(unit, AuditAction.quiet_hours_added, row)
    return rule


async def remove(unit: UnitOfWork, id: str) -> Rule:
    """Remove an own rule, record that in the audit log, and return the rule.

    Raises `NotFound`, or `Conflict` for a rule of law.
    """
    if any(id == rule.id for rule in LAWS):
        raise Conflict(reason=f"{id} is a rule of law, which cannot be removed. A rule of your own may override it.")
    row = await queries.lock_rule(unit, id)
    rule = queries.rule_of(row)
    await _record(unit, AuditAction.quiet_hours_removed, row)
    await unit.delete(row)
    return rule


async def count_no_more(unit: UnitOfWork, message_id: int) -> None:
    """Let a text that never left count toward no cap."""
    await unit.execute(delete(CappedText).where(CappedText.message_id == message_id))


def _row(unit: UnitOfWork, new: NewRule) -> QuietHoursRule:
    start, end = minute_of(new.start, "start"), minute_of(new.end, "end")
    if start > end:
        raise InvalidInput(
            reason="end must not be before start: give a window over midnight as two rules.", field="end"
        )
    if new.cap is not None and not 1 <= new.cap <= MAX_CAP:
        raise InvalidInput(reason=f"cap must be from 1 to {MAX_CAP}.", field="cap")
    if new.cap is not None and new.weekdays and not set(new.weekdays) >= set(EVERY_DAY):
        reason = "A cap holds on all days. Leave the weekdays out, or add a rule for the cap and one for the weekdays."
        raise InvalidInput(reason=reason, field="cap")
    reason = new.reason.strip()
    if (new.overrides_law and not reason) or len(reason) > MAX_REASON:
        raise InvalidInput(
            reason=f"A rule that overrides the law needs a reason of 1 to {MAX_REASON} characters.", field="reason"
        )
    return QuietHoursRule(
        account_id=unit.actor.account_id,
        jurisdiction=_jurisdiction(new.jurisdiction),
        weekdays=[str(day) for day in EVERY_DAY if not new.weekdays or day in new.weekdays],
        start_minute=start,
        end_minute=end,
        cap=new.cap,
        overrides_law=new.overrides_law,
        reason=reason,
        created_by=unit.actor.label,
        created_at=unit.clock.now(),
    )


def _jurisdiction(text: str) -> str:
    found = text.strip().upper()
    if found not in JURISDICTIONS:
        raise InvalidInput(
            reason="jurisdiction must be * for all, a country such as GB, or a state or province such as US-FL.",
            field="jurisdiction",
        )
    return found


def _check_strict(rule: Rule) -> None:
    """Raise `BelowLegalMinimum` for a rule without an effect because the law's is stricter."""
    law, cap = queries.OF_LAW.week(rule.jurisdiction), queries.OF_LAW.cap(rule.jurisdiction)
    for day in rule.days:
        known = law[EVERY_DAY.index(day)]
        is_looser = rule.span.start < known.start or rule.span.end > known.end
        if is_looser and rule.span.start < rule.span.end:
            raise BelowLegalMinimum(reason=f"The law's window on {day} is {clock(known.start)} to {clock(known.end)}.")
    if rule.cap is not None and cap is not None and rule.cap > cap.most:
        raise BelowLegalMinimum(reason=f"The law's cap is {cap.most} texts in 24 hours.")


async def _record(unit: UnitOfWork, action: AuditAction, row: QuietHoursRule) -> None:
    await audit.record(
        unit,
        action,
        row.jurisdiction,
        rule=f"own.{row.id}",
        weekdays=row.weekdays,
        start=clock(row.start_minute),
        end=clock(row.end_minute),
        cap=row.cap,
        overrides_law=row.overrides_law,
        reason=row.reason,
    )
