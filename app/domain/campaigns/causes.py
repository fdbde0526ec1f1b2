"""Find a common cause of poor results of a campaign: a number, an hour, an area, or contacts that never write."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from sqlalchemy import text

from app.domain.campaigns.breakdown import BreakdownGroup, BreakdownRow
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
"""The share by which the delivery of an hour or an area is below that of the others at least."""

SILENT = timedelta(days=365)
MANY_STALE = 0.3

COUNT_STALE = f"""
SELECT count(*), count(*) FILTER (WHERE c.created_at < :since AND coalesce({conversations.LAST_INBOUND} < :since, true))
FROM campaign_recipients r {contacts.join("r.contact_id")} {conversations.join("r.contact_id")}
WHERE r.campaign_id = :campaign_id AND r.account_id = :account_id AND r.state <> 'suppressed'
"""


GROUPINGS = BreakdownGroup.segments, BreakdownGroup.number, BreakdownGroup.hour, BreakdownGroup.area
"""The groupings of recipients that a diagnosis compares."""

Groups = Mapping[BreakdownGroup, Sequence[BreakdownRow]]


async def find(unit: UnitOfWork, campaign: Campaign, groups: Groups) -> list[Finding]:
    """Return the findings about the numbers, the hours, the areas and the contacts of a campaign."""
    found = await rates.find_rates(unit, BASELINE_DAYS, RateGroup.number, until=campaign.sent_at)
    usual = {each.key: each for each in found}
    return [
        *judge_numbers(groups[BreakdownGroup.number], usual),
        *judge_hours(groups[BreakdownGroup.hour]),
        *judge_areas(groups[BreakdownGroup.area]),
        *await _check_health(unit, groups[BreakdownGroup.number]),
        *await _find_stale(unit, campaign),
    ]


def judge_numbers(rows: Sequence[BreakdownRow], usual: Mapping[str, DeliveryRate]) -> Iterator[Finding]:
    """Yield the numbers that delivered less than in the 28 days before.

    A number that sends the whole campaign is left out: its rate is that of the campaign.
    """
    sending = [row for row in rows if row.key]
    known = [row for row in sending if row.key in usual and _final(row) >= FEWEST]
    compared = known if len(sending) > 1 else []
    for row in compared:
        before = usual[row.key]
        if (p := _chance(row.delivered, _final(row), before.delivered, before.final)) < SIGNIFICANT / len(compared):
            own, usually = row.delivered / _final(row), before.delivered / before.final
            text = (
                f"From {row.key}, {own:.1%} were delivered, against {usually:.1%} in the 28 days before (p = {p:.2g})."
            )
            fix = "Send from other numbers until check_deliverability shows the cause."
            yield Finding(FindingCode.number_below_usual, Verdict.problem, text, fix)


def judge_hours(rows: Sequence[BreakdownRow]) -> Iterator[Finding]:
    """Yield the worst hour of leaving, where it is significantly below the others together."""
    if text := _find_lowest(rows, "Of the texts of {}"):
        fix = "Choose other hours for the next campaign: campaign_breakdown shows each."
        yield Finding(FindingCode.hour_below_others, Verdict.warning, text, fix)


def judge_areas(rows: Sequence[BreakdownRow]) -> Iterator[Finding]:
    """Yield the worst area of the phones, where it is significantly below the others together."""
    if text := _find_lowest(rows, "Of the texts to phones that begin with {}"):
        fix = "Check these phones, or text them from a number of their area: campaign_breakdown shows each."
        yield Finding(FindingCode.area_below_others, Verdict.warning, text, fix)


def _find_lowest(rows: Sequence[BreakdownRow], phrase: str) -> str:
    """Return the figures of the group that is significantly below the others together, or ""."""
    groups = [row for row in rows if row.key and _final(row) >= FEWEST]
    delivered, final = sum(row.delivered for row in groups), sum(map(_final, groups))
    found: list[tuple[float, float, BreakdownRow]] = []
    for row in groups:
        others, other_final = delivered - row.delivered, final - _final(row)
        p = _chance(row.delivered, _final(row), others, other_final)
        if p < SIGNIFICANT / len(groups) and row.delivered / _final(row) < others / other_final - LOWER:
            found.append((p, others / other_final, row))
    if not found:
        return ""
    p, share, row = min(found, key=lambda each: each[0])
    own = row.delivered / _final(row)
    return f"{phrase.format(row.key)}, {own:.1%} were delivered, of the others {share:.1%} (p = {p:.2g})."


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
