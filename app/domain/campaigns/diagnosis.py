"""Say why a campaign reaches fewer people than it could: each check with its figures, and what to do."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from app.domain.campaigns import causes, queries
from app.domain.campaigns.breakdown import BreakdownGroup, sum_recipients
from app.domain.campaigns.findings import BASELINE_DAYS, FEWEST, SIGNIFICANT, Finding, FindingCode, Verdict, compare
from app.domain.campaigns.models import Campaign, CampaignStatus, PauseReason, RecipientState
from app.domain.campaigns.previews import find_eta
from app.domain.campaigns.reasons import DEFERRED, OF_SENDER, Reason
from app.domain.carriers.carrier import FailureCode
from app.domain.deliverability import rates
from app.domain.kernel.unit_of_work import UnitOfWork

MANY_SUPPRESSED, MANY_FILTERED, MANY_LANDLINES, MANY_OPT_OUTS, MANY_MULTIPART = 0.2, 0.02, 0.05, 0.01, 0.5
MANY_DEFERRED, MANY_THROTTLED = 0.2, 0.02
WAITING = (RecipientState.queued, RecipientState.deferred, RecipientState.claimed)


@dataclass(frozen=True, slots=True)
class Facts:
    """The figures that the checks decide by; `usual_delivered` of `usual_final` are those of the account before.

    `extra_credits` is the price of the parts after the first of each text; `eta_seconds` the time of the waiting texts
    at the paces of the numbers, 0 where these have none.
    """

    campaign: Campaign
    states: Counter[str]
    reasons: Counter[str]
    opt_outs: int = 0
    multipart: int = 0
    usual_delivered: int = 0
    usual_final: int = 0
    extra_credits: int = 0
    eta_seconds: int = 0
    audience: int = field(init=False)

    def __post_init__(self) -> None:
        """Sum up the audience."""
        object.__setattr__(self, "audience", self.states.total())

    @property
    def final(self) -> int:
        """Return the number of recipients with a result of the network."""
        return self.states[RecipientState.delivered] + self.states[RecipientState.failed]


async def diagnose(unit: UnitOfWork, campaign_id: int) -> Sequence[Finding]:
    """Return the findings about a campaign, the gravest first; raise `NotFound`."""
    campaign = await queries.get(unit, campaign_id)
    counts = await queries.find_counts(unit, [campaign_id])
    states, reasons = Counter[str](), Counter[str]()
    for each in counts:
        states[each.state] += each.recipients
        reasons[each.reason] += each.recipients
    groups = await sum_recipients(unit, campaign_id, *causes.GROUPINGS)
    parts = groups[BreakdownGroup.segments]
    several = [row for row in parts if row.key not in ("0", "1")]
    [usual] = await rates.find_rates(unit, BASELINE_DAYS, until=campaign.sent_at)
    facts = Facts(
        campaign,
        states,
        reasons,
        sum(row.opt_outs for row in parts),
        sum(row.recipients for row in several),
        usual.delivered,
        usual.final,
        sum(row.credits - row.credits // int(row.key) for row in several),
        await find_eta(unit, campaign, sum(each.segments for each in counts if each.state in WAITING)),
    )
    found = [*judge(facts), *await causes.find(unit, campaign, groups)]
    return sorted(found, key=lambda each: -list(Verdict).index(each.verdict))


def judge(facts: Facts) -> Iterator[Finding]:
    """Return the findings that figures give rise to."""
    yield from _judge_course(facts)
    yield from _judge_audience(facts)
    yield from _judge_pace(facts)
    yield from _judge_results(facts)
    if facts.multipart > MANY_MULTIPART * max(1, facts.audience):
        more = f", for {facts.extra_credits} credits more" if facts.extra_credits else ""
        text = f"{facts.multipart} of {facts.audience} texts take more than one SMS part{more}."
        fix = "Shorten the text, or replace characters outside GSM-7: the preview names the alphabets."
        yield Finding(FindingCode.many_segments, Verdict.note, text, fix)
    if "stop" not in facts.campaign.body.lower():
        text = "The text does not say how to opt out."
        yield Finding(FindingCode.no_opt_out_text, Verdict.warning, text, "End it with: Reply STOP to opt out.")


def _judge_course(facts: Facts) -> Iterator[Finding]:
    campaign = facts.campaign
    waiting = sum(facts.states[each] for each in WAITING)
    if campaign.status == CampaignStatus.sending and waiting:
        eta = f"; at the pace of the numbers that takes {-(-facts.eta_seconds // 60)} min" if facts.eta_seconds else ""
        text = f"{waiting} of {facts.audience} texts have not left yet{eta}."
        has_hour = _count_deferred(facts) == waiting
        fix = "Wait: they leave by themselves at their hour." if has_hour else "Wait, or add numbers to send faster."
        yield Finding(FindingCode.still_running, Verdict.note, text, fix)
    if campaign.status == CampaignStatus.paused:
        is_poor = campaign.reason == PauseReason.insufficient_credits
        code = FindingCode.credits_exhausted if is_poor else FindingCode.paused
        fix = "Add credits; it goes on by itself." if is_poor else "Settle the cause, then resume it."
        text = f"It is paused ({campaign.reason}) with {waiting} texts waiting."
        yield Finding(code, Verdict.problem, text, fix)


def _judge_audience(facts: Facts) -> Iterator[Finding]:
    suppressed = facts.states[RecipientState.suppressed]
    if suppressed > MANY_SUPPRESSED * max(1, facts.audience):
        known = {reason: number for reason, number in facts.reasons.items() if reason in set(Reason)}
        most = max(known, key=lambda reason: known[reason], default="")
        text = f"{suppressed} of {facts.audience} contacts got no text, most of them for {most} ({known.get(most, 0)})."
        yield Finding(FindingCode.audience_shrink, Verdict.warning, text, "Clean the audience of these contacts.")
    landlines = facts.reasons[Reason.landline]
    if landlines > MANY_LANDLINES * max(1, facts.audience):
        text = f"{landlines} of {facts.audience} phones are landlines."
        yield Finding(FindingCode.landlines, Verdict.note, text, "Ask these contacts for a mobile number.")


def _judge_pace(facts: Facts) -> Iterator[Finding]:
    deferred = _count_deferred(facts)
    if deferred > MANY_DEFERRED * max(1, facts.audience):
        text = f"{deferred} of {facts.audience} texts wait for their hour, that of the campaign or of quiet hours."
        yield Finding(FindingCode.deferred, Verdict.note, text, "They leave by themselves; the preview has the hours.")
    throttled = facts.reasons[FailureCode.rate_limited] + facts.reasons[FailureCode.daily_cap]
    if throttled > MANY_THROTTLED * max(1, facts.final):
        text = f"The carrier refused {throttled} texts as too many for its limits."
        fix = "Set the pace of the numbers to the limits of their registration, or add numbers."
        yield Finding(FindingCode.throttled, Verdict.problem, text, fix)


def _count_deferred(facts: Facts) -> int:
    return facts.states[RecipientState.deferred] + facts.reasons[DEFERRED]


def _judge_results(facts: Facts) -> Iterator[Finding]:
    final, delivered = facts.final, facts.states[RecipientState.delivered]
    if final >= FEWEST and facts.usual_final >= FEWEST:
        p = compare(delivered, final, facts.usual_delivered, facts.usual_final)
        if p < SIGNIFICANT and delivered / final < facts.usual_delivered / facts.usual_final:
            usual = facts.usual_delivered / facts.usual_final
            text = f"{delivered / final:.1%} were delivered, against {usual:.1%} in the 28 days before (p = {p:.2g})."
            fix = "Compare the text and the numbers with earlier ones: campaign_breakdown shows where it fails."
            yield Finding(FindingCode.delivery_below_usual, Verdict.problem, text, fix)
    if (filtered := facts.reasons[FailureCode.filtered]) > MANY_FILTERED * max(1, final):
        text = f"Carriers filtered {filtered} of {final} texts."
        fix = "Name your business, avoid shortened links, and register the number."
        yield Finding(FindingCode.filtered, Verdict.problem, text, fix)
    if refused := sum(facts.reasons[code] for code in OF_SENDER):
        text = f"The carrier refused {refused} texts for the sender or its account."
        yield Finding(FindingCode.sender_refused, Verdict.problem, text, "Finish the number's registration.")
    arrived = delivered + facts.states[RecipientState.sent]
    if facts.opt_outs > MANY_OPT_OUTS * max(1, arrived):
        text = f"{facts.opt_outs} of {arrived} contacts who were sent the text opted out."
        yield Finding(FindingCode.opt_outs, Verdict.warning, text, "Text only contacts who expect it, and less often.")
