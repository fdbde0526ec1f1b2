"""Results of campaigns: the breakdown, the diagnosis, and the choice of the number."""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import breakdown, diagnosis, queries, reasons
from app.domain.campaigns.breakdown import BreakdownGroup, BreakdownRow
from app.domain.campaigns.causes import judge_areas, judge_hours, judge_numbers
from app.domain.campaigns.diagnosis import Facts, judge
from app.domain.campaigns.findings import FindingCode, compare
from app.domain.campaigns.models import Answer, Campaign, RecipientState
from app.domain.campaigns.queries import RecipientFilter
from app.domain.campaigns.reasons import Reason
from app.domain.campaigns.senders import Sender, Senders
from app.domain.deliverability.rates import DeliveryRate
from app.domain.kernel.errors import DomainError
from app.domain.kernel.events import UpdateKind
from app.domain.kernel.paging import Window
from app.domain.kernel.phone import find_fault, require_recipient
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, Run
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, NUMBER_HOURS, add_people
from tests.factories.contacts import CONTACTS
from tests.factories.numbers import PHONE_NUMBERS

pytestmark = pytest.mark.anyio

NUMBERS = {
    "+12025550100": Sender(1, "+12025550100", 1.0, is_poor=False),
    "+14155550100": Sender(2, "+14155550100", 1.0, is_poor=False),
    "+13055550100": Sender(3, "+13055550100", 1.0, is_poor=True),
}


async def test_the_texts_of_a_campaign_are_told_by_its_progress_alone(
    account: Opened, services: Services, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    await add_people(services, 3)
    await send()
    await run()
    await text("Which shoes?", "+12022000001")
    await run()

    told = Counter(each.kind for each in await services.feed.read(account.account_id, 0))

    assert told.pop(UpdateKind.campaign_progress) >= 1
    del told[UpdateKind.notice]
    assert told == {UpdateKind.new_message: 1}


async def test_a_breakdown_groups_recipients_and_their_answers(
    pool: Pool, add: Callable[..., Awaitable[int]], act: Act, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    for phone in ("+12025550140", "+12025550141", "+14155550140"):
        await add(phone, first_name="Ann")
    await add("+12025550142", dnd_sms=True)
    campaign = await send()
    await run()
    await text("STOP", "+12025550140")
    await text("Which shoes?", "+14155550140")
    await run()

    async with act() as unit:
        reasons = await breakdown.break_down(unit, campaign.id, BreakdownGroup.reason)
        areas = await breakdown.break_down(unit, campaign.id, BreakdownGroup.area)
        others = [await breakdown.break_down(unit, campaign.id, by) for by in BreakdownGroup]
        findings = await diagnosis.diagnose(unit, campaign.id)

    assert [(row.key, row.recipients, row.delivered) for row in reasons] == [("delivered", 3, 3), ("dnd", 1, 0)]
    assert [(row.key, row.recipients, row.replies, row.opt_outs) for row in areas] == [
        ("+1202", 3, 0, 1),
        ("+1415", 1, 1, 0),
    ]
    assert [sum(row.recipients for row in rows) for rows in others] == [4] * len(BreakdownGroup)
    assert [each.code for each in findings] == [
        FindingCode.audience_shrink,
        FindingCode.opt_outs,
        FindingCode.no_opt_out_text,
    ]


async def test_recipients_are_listed_by_state_reason_and_answer(
    add: Callable[..., Awaitable[int]], act: Act, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    for phone in ("+12025550140", "+12025550141", "+14155550140"):
        await add(phone)
    await add("+12025550142", dnd_sms=True)
    campaign = await send()
    await run()
    await text("STOP", "+12025550140")
    await text("Which shoes?", "+14155550140")
    await run()

    filters = [
        RecipientFilter(),
        RecipientFilter(RecipientState.suppressed),
        RecipientFilter(RecipientState.suppressed, Reason.landline),
        RecipientFilter(reason=Reason.dnd),
        RecipientFilter(answer=Answer.opted_out),
        RecipientFilter(RecipientState.delivered, "", Answer.replied),
    ]
    async with act() as unit:
        pages = [await queries.find_recipients(unit, campaign.id, each, Window()) for each in filters]
        totals = [(await page.total()).count for page in pages]

    assert [[each.phone for each in page.nodes] for page in pages] == [
        ["+14155550140", "+12025550142", "+12025550141", "+12025550140"],
        ["+12025550142"],
        [],
        ["+12025550142"],
        ["+12025550140"],
        ["+14155550140"],
    ]
    assert totals == [4, 1, 0, 1, 1, 1]


def test_each_reason_has_a_description() -> None:
    assert [reason for reason in Reason if reason not in reasons.DESCRIPTIONS] == []
    assert reasons.describe("") is None
    assert reasons.describe("filtered") == reasons.failures.describe("filtered")
    assert reasons.describe("number_paused") == (
        "The text was refused with the error number_paused, which the reference of errors explains."
    )


def facts(states: dict[str, int], body: str = "Reply STOP", **others: Any) -> Facts:
    reasons = Counter[str](others.pop("reasons", {}))
    return Facts(Campaign(body=body, status="completed", reason=""), Counter(states), reasons, **others)


@pytest.mark.parametrize(
    ("known", "codes"),
    [
        (facts({"delivered": 100}), []),
        (facts({"delivered": 100}, body="Hello"), [FindingCode.no_opt_out_text]),
        (
            facts({"delivered": 80, "failed": 20}, usual_delivered=980, usual_final=1000),
            [FindingCode.delivery_below_usual],
        ),
        (facts({"delivered": 19, "failed": 1}, usual_delivered=980, usual_final=1000), []),
        (facts({"delivered": 90, "failed": 10}, reasons={"filtered": 10}), [FindingCode.filtered]),
        (facts({"failed": 6}, reasons={"sender_invalid": 6}), [FindingCode.sender_refused]),
        (facts({"delivered": 90, "suppressed": 10}, reasons={"landline": 10}), [FindingCode.landlines]),
        (facts({"delivered": 100}, multipart=60), [FindingCode.many_segments]),
        (facts({"delivered": 100}, opt_outs=2), [FindingCode.opt_outs]),
        (facts({"sent": 300, "delivered": 10}, opt_outs=2), []),
        (facts({"delivered": 70, "deferred": 20, "claimed": 10}, reasons={"deferred": 5}), [FindingCode.deferred]),
        (facts({"delivered": 90, "failed": 10}, reasons={"daily_cap": 3}), [FindingCode.throttled]),
    ],
)
def test_each_finding_has_its_figures(known: Facts, codes: list[FindingCode]) -> None:
    assert [each.code for each in judge(known)] == codes


def row(key: str, delivered: int, failed: int) -> BreakdownRow:
    return BreakdownRow(key, delivered + failed, 0, delivered, failed, 0, 0, 0, 0)


def usual(delivered: int, failed: int) -> DeliveryRate:
    return DeliveryRate("", delivered + failed, delivered, failed, 0, 0, 0)


@pytest.mark.parametrize(
    ("rows", "known", "texts"),
    [
        (
            [row("+12025550100", 80, 20), row("+14155550100", 98, 2)],
            {"+12025550100": usual(1000, 10), "+14155550100": usual(1000, 10)},
            ["From +12025550100, 80.0% were delivered, against 99.0% in the 28 days before (p = 5e-29)."],
        ),
        ([row("+12025550100", 80, 20), row("", 0, 9)], {"+12025550100": usual(1000, 10)}, []),
        ([row("+12025550100", 20, 9), row("+14155550100", 9, 0)], {"+12025550100": usual(1000, 10)}, []),
        ([row("+12025550100", 80, 20), row("+14155550100", 9, 0)], {}, []),
    ],
)
def test_a_number_that_delivers_less_than_before_is_found(
    rows: list[BreakdownRow], known: dict[str, DeliveryRate], texts: list[str]
) -> None:
    assert [each.text for each in judge_numbers(rows, known)] == texts


@pytest.mark.parametrize(
    ("rows", "hours"),
    [
        ([row("2026-11-24T20:00Z", 80, 20), row("2026-11-24T09:00Z", 980, 20)], ["2026-11-24T20:00Z"]),
        (
            [row("2026-11-24T20:00Z", 80, 20), row("2026-11-24T21:00Z", 60, 40), row("x", 980, 20)],
            ["2026-11-24T21:00Z"],
        ),
        ([row("2026-11-24T20:00Z", 8, 2), row("2026-11-24T09:00Z", 980, 20)], []),
        ([row("2026-11-24T20:00Z", 80, 20)], []),
        ([row("", 0, 50), row("2026-11-24T09:00Z", 980, 20)], []),
    ],
)
def test_the_hour_that_delivers_least_is_found(rows: list[BreakdownRow], hours: list[str]) -> None:
    assert [hour for each in judge_hours(rows) for hour in hours if hour in each.text] == hours
    assert len([*judge_hours(rows)]) == len(hours)


def test_the_area_that_delivers_least_is_found_among_areas_with_enough_results() -> None:
    rows = [row("+1202", 60, 40), row("+1415", 980, 20), row("+1305", 0, 29), row("", 0, 50)]

    [found] = judge_areas(rows)

    assert found.code is FindingCode.area_below_others
    assert found.text == (
        "Of the texts to phones that begin with +1202, 60.0% were delivered, of the others 98.0% (p = 2.6e-57)."
    )


def test_the_lowest_of_many_groups_is_no_finding_where_chance_explains_it() -> None:
    lowest, others = row("+1202", 87, 13), [row(f"+1{area}", 94, 6) for area in range(300, 330)]

    assert [each.code for each in judge_areas([lowest, others[0]])] == []
    assert 0.01 / 31 < compare(87, 100, 94 * 30, 3000) < 0.01
    assert [*judge_areas([lowest, *others])] == []


async def test_a_diagnosis_names_poor_numbers_and_contacts_that_never_write(
    pool: Pool, account: Opened, act: Act, send: Make, run: Run, services: Services
) -> None:
    await add_people(pool, 40)
    await CONTACTS.age(pool, "created_at", days=400)
    campaign = await send()
    await run()
    sums = {"number": account.phone_number, "carrier": "sandbox", "region": "1", "segments": 2}
    await NUMBER_HOURS.insert(
        pool, account_id=account.account_id, hour=services.clock.now(), sent=100, delivered=10, failed=90, **sums
    )

    async with act() as unit:
        found = {each.code: each.text for each in await diagnosis.diagnose(unit, campaign.id)}

    assert found[FindingCode.number_health] == (
        f"The health of {account.phone_number} is 50 of 100: low_delivery_rate."
    )
    assert found[FindingCode.stale_contacts] == (
        "40 of 40 contacts were added over a year ago and have not written for a year."
    )


async def test_a_campaign_is_compared_with_the_days_before_it_whenever_it_is_diagnosed(
    pool: Pool, account: Opened, act: Act, send: Make, run: Run, services: Services
) -> None:
    await add_people(pool, 40)
    campaign = await send(body="Reply STOP")
    await run()
    for id in (await CAMPAIGN_RECIPIENTS.read(pool, "id"))[:10]:
        await CAMPAIGN_RECIPIENTS.where(id=id).change(pool, state="failed")
    for table, column in ((CAMPAIGNS, "sent_at"), (NUMBER_HOURS, "hour")):
        await table.age(pool, column, days=40)
    now, sums = services.clock.now(), {"carrier": "sandbox", "region": "1", "segments": 2}
    sums |= {"account_id": account.account_id, "number": account.phone_number}
    await NUMBER_HOURS.insert(pool, hour=now - timedelta(days=50), delivered=750, failed=250, **sums)
    await NUMBER_HOURS.insert(pool, hour=now - timedelta(days=2), delivered=1000, failed=10, **sums)

    async with act() as unit:
        found = await diagnosis.diagnose(unit, campaign.id)

    assert [each.code for each in found] == []


async def test_a_campaign_under_way_says_how_long_its_texts_need(
    pool: Pool, account: Opened, act: Act, send: Make, accept: Callable[[int], Awaitable[None]]
) -> None:
    await add_people(pool, 130)
    await PHONE_NUMBERS.change(pool, parts_per_second=1)
    campaign = await send()
    await accept(1)

    async with act() as unit:
        [running] = [
            each for each in await diagnosis.diagnose(unit, campaign.id) if each.code is FindingCode.still_running
        ]

    assert running.text == "130 of 130 texts have not left yet; at the pace of the numbers that takes 3 min."


@pytest.mark.parametrize(
    ("deferred", "advice"),
    [(9, "Wait, or add numbers to send faster."), (10, "Wait: they leave by themselves at their hour.")],
)
def test_numbers_are_no_advice_where_all_texts_wait_for_their_hour(deferred: int, advice: str) -> None:
    known = facts({"deferred": 4, "claimed": 6}, reasons={"deferred": deferred - 4})
    known.campaign.status = "sending"

    found = {each.code: each.fix for each in judge(known)}

    assert found[FindingCode.still_running] == advice


def test_two_shares_are_compared_by_a_z_test() -> None:
    assert round(compare(80, 100, 90, 100), 3) == 0.048
    assert compare(10, 10, 10, 10) == 1.0


@pytest.mark.parametrize(
    ("phone", "usual", "chosen"),
    [
        ("+14155550143", None, 2),
        ("+14155550143", "+12025550100", 1),
        ("+14155550143", "+13055550100", 3),
        ("+13055550143", None, 1),
        ("+442079460958", None, 1),
    ],
)
def test_a_text_leaves_from_the_known_number_then_that_of_the_area_then_the_least_loaded(
    phone: str, usual: str | None, chosen: int
) -> None:
    found = Senders(NUMBERS).choose(phone, usual, 1)

    assert found
    assert found.id == chosen


def test_texts_are_spread_by_the_parts_that_wait_at_each_number() -> None:
    senders = Senders(NUMBERS)

    chosen = [senders.choose("+442079460958", None, 2) for _ in range(4)]

    assert [each and each.id for each in chosen] == [1, 2, 1, 2]
    assert Senders({}).choose("+442079460958", None, 1) is None


@pytest.mark.parametrize("phone", ["+12025550143", "+15555550143", "+12465211234", "+442079460958", "+447911123456"])
def test_the_fault_of_a_recipient_is_that_of_its_send(phone: str) -> None:
    try:
        require_recipient(phone)
        code = ""
    except DomainError as fault:
        code = fault.code

    assert find_fault(phone) == code
