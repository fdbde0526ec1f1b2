"""Signs of spam of a number: each by its own figures, and what no one can be asked."""

import pytest

from app.domain.deliverability import spam
from app.domain.deliverability.health import Figures
from app.domain.deliverability.spam import NO_REGISTER
from app.domain.kernel.errors import NotFound
from app.domain.onboarding.service import Opened
from tests.domain.conftest import UnitFor

QUIET = Figures(sent=400, delivered=400, replies=4, opt_outs=4, failed=0)


@pytest.mark.parametrize(
    ("recent", "before", "found"),
    [
        (Figures(), Figures(), []),
        (QUIET, Figures(sent=1600), []),
        (Figures(sent=400, delivered=395, failed=5, filtered=4, replies=4), Figures(), []),
        (Figures(sent=400, delivered=395, failed=5, filtered=5, replies=4), Figures(), ["filtered"]),
        (Figures(sent=29, delivered=9, failed=20, filtered=20), Figures(), []),
        (Figures(sent=400, delivered=400, replies=9, opt_outs=5), Figures(), ["opt_outs"]),
        (Figures(refused=1), Figures(), ["sender_refused"]),
        (Figures(sent=400, delivered=400, replies=3), Figures(), ["unanswered"]),
        (Figures(sent=199, delivered=199), Figures(), []),
        (Figures(sent=361, delivered=361, replies=9, busiest_day=61), Figures(median_day=20), ["volume_jump"]),
        (Figures(sent=360, delivered=360, replies=9, busiest_day=60), Figures(median_day=20), []),
    ],
)
def test_each_sign_has_a_bound(recent: Figures, before: Figures, found: list[str]) -> None:
    assert [str(each.code) for each in spam.find(recent, before)] == found


async def test_a_check_says_that_no_register_can_be_asked(account: Opened, unit_for: UnitFor) -> None:
    async with unit_for(account) as unit:
        checked = await spam.check(unit, account.phone_number_id)
        with pytest.raises(NotFound, match=r"^No active phone number with id 999999999\.$"):
            await spam.check(unit, 999999999)

    assert (checked.flagged, checked.low_sample, checked.findings) == (False, True, [])
    assert [(each.name, each.is_asked) for each in checked.sources] == [
        ("own_results", True),
        ("public_registers", False),
    ]
    assert checked.sources[1].text == NO_REGISTER
