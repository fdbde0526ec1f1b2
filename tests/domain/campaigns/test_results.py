"""Results of campaigns: the breakdown, the diagnosis, and the choice of the number."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import breakdown, diagnosis
from app.domain.campaigns.breakdown import BreakdownGroup
from app.domain.campaigns.diagnosis import Facts, FindingCode, compare, judge
from app.domain.campaigns.models import Campaign
from app.domain.campaigns.senders import Sender, Senders
from app.domain.kernel.errors import DomainError
from app.domain.kernel.phone import find_fault, require_recipient
from tests.domain.campaigns.conftest import Act, Make, Run

pytestmark = pytest.mark.anyio

NUMBERS = {
    "+12025550100": Sender(1, "+12025550100", 1.0, is_poor=False),
    "+14155550100": Sender(2, "+14155550100", 1.0, is_poor=False),
    "+13055550100": Sender(3, "+13055550100", 1.0, is_poor=True),
}


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
    ],
)
def test_each_finding_has_its_figures(known: Facts, codes: list[FindingCode]) -> None:
    assert [each.code for each in judge(known)] == codes


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
