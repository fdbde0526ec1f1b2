"""Find what the results of a campaign have in common: a number, an hour of leaving, or contacts that never write."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import text

from app.domain.campaigns.breakdown import BreakdownGroup, BreakdownRow, break_down
from app.domain.campaigns.findings import BASELINE_DAYS, FEWEST, SIGNIFICANT, Finding, FindingCode, Verdict, compare
from app.domain.campaigns.models import Campaign
from app.domain.contacts import sql as contacts
from app.domain.conversations import sql as conversations
from app.domain.deliverability import health, rates
from app.domain.deliverability.health import HealthState
from app.domain.deliverability.rates import DeliveryRate, RateGroup
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers

MOST_NUMBERS = 10
"""The number of sending numbers whose health is looked at, those with the most recipients first."""

LOWER = 0.05
"""The share by which the delivery of an hour is below that of the others at least."""

SILENT = timedelta(days=365)
MANY_STALE = 0.3

COUNT_STALE = f"""
SELECT count(*), count(*) FILTER (WHERE c.created_at < :since AND coalesce({conversations.LAST_INBOUND} < :since, true))
FROM campaign_recipients r {contacts.join("r.contact_id")} {conversations.join("r.contact_id")}
WHERE r.campaign_id = :campaign_id AND r.account_id = :account_id AND r.state <> 'suppressed'
"""


async def find(unit: UnitOfWork, campaign: Campaign) -> list[Finding]:
    """Return the findings about the numbers, the hours and the contacts of a campaign."""
    by_number = await break_down(unit, campaign.id, BreakdownGroup.number)
    usual = {each.key: each for each in await rates.find_rates(unit, BASELINE_DAYS, RateGroup.number)}
    by_hour = await break_down(unit, campaign.id, BreakdownGroup.hour)
    return [
        *judge_numbers(by_number, usual),
        *judge_hours(by_hour),
        *await _check_health(unit, by_number),
        *await _find_stale(unit, campaign),
    ]


def judge_numbers(rows: Sequence[BreakdownRow], usual: Mapping[str, DeliveryRate]) -> Iterator[Finding]:
    """Yield the numbers that delivered less than in the 28 days before; with one number, the whole campaign tells."""
    sending = [row for row in rows if row.key]
    for row in sending if len(sending) > 1 else []:
        known = usual.get(row.key)
        if known is None:
            continue
        delivered = max(0, known.delivered - row.delivered)
        before = delivered + max(0, known.failed - row.failed)
        if (p := _chance(row.delivered, _final(row), delivered, before)) < SIGNIFICANT:
            own, usually = row.delivered / _final(row), delivered / before
            text = (
                f"From {row.key}, {own:.1%} were delivered, against {usually:.1%} in the 28 days before (p = {p:.2g})."
            )
            fix = "Send from other numbers until check_deliverability shows the cause."
            yield Finding(FindingCode.number_below_usual, Verdict.problem, text, fix)


def judge_hours(rows: Sequence[BreakdownRow]) -> Iterator[Finding]:
    """Yield the worst hour of leaving, where it is significantly below the others together."""
    hours = [row for row in rows if row.key]
    delivered, final = sum(row.delivered for row in hours), sum(map(_final, hours))
    found: list[tuple[float, BreakdownRow]] = []
    for row in hours:
        others = delivered - row.delivered, final - _final(row)
        p = _chance(row.delivered, _final(row), *others)
        if p < SIGNIFICANT and row.delivered / _final(row) < others[0] / others[1] - LOWER:
            found.append((p, row))
    if found:
        p, row = min(found, key=lambda each: each[0])
        share = (delivered - row.delivered) / (final - _final(row))
        own = row.delivered / _final(row)
        text = f"Of the texts of {row.key}, {own:.1%} were delivered, of the others {share:.1%} (p = {p:.2g})."
        fix = "Choose other hours for the next campaign: campaign_breakdown shows each."
        yield Finding(FindingCode.hour_below_others, Verdict.warning, text, fix)


def _chance(delivered: int, final: int, others: int, other_final: int) -> float:
    """Return how likely chance makes a share so much lower than another; 1 where it is not, or results are few."""
    if min(final, other_final) < FEWEST or delivered / final >= others / other_final:
        return 1.0
    return compare(delivered, final, others, other_final)


def _final(row: BreakdownRow) -> int:
    return row.delivered + row.failed


async def _check_health(unit: UnitOfWork, rows: Sequence[BreakdownRow]) -> list[Finding]:
    used = [row.key for row in rows if row.key][:MOST_NUMBERS]
    found: list[Finding] = []
    for number in await numbers.list_active(unit):
        if number.phone_number not in used:
            continue
        checked = await health.check(unit, number.id)
        if checked.state in (HealthState.watch, HealthState.poor):
            causes = ", ".join(each.code for each in checked.deductions)
            text = f"The health of {number.phone_number} is {checked.score} of 100: {causes}."
            fix = "check_deliverability lists each cause, and what to do about it."
            found.append(Finding(FindingCode.number_health, Verdict.warning, text, fix))
    return found


async def _find_stale(unit: UnitOfWork, campaign: Campaign) -> list[Finding]:
    about = {"campaign_id": campaign.id, "account_id": unit.actor.account_id, "since": unit.clock.now() - SILENT}
    counted: tuple[int, ...] = tuple((await unit.execute(text(COUNT_STALE), about)).one())
    reached, stale = counted
    if reached < FEWEST or stale <= MANY_STALE * reached:
        return []
    shown = f"{stale} of {reached} contacts were added over a year ago and have not written for a year."
    fix = "Ask them whether they still want texts, or leave them out: last_inbound_at not_within_last 52 weeks."
    return [Finding(FindingCode.stale_contacts, Verdict.warning, shown, fix)]
