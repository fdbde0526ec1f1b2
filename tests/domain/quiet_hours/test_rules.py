"""Rules: those of law, and those of an account, which tighten them or override them."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.kernel.errors import InvalidInput
from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.limits import DAY, WEEK, WEEKLY_RULE, Deferral, Recipient, decide
from app.domain.quiet_hours.rules import EVERY_DAY, Cap, Rule, Rulebook, Weekday, clock, span
from app.domain.quiet_hours.windows import JITTER, Span
from app.domain.quiet_hours.zones import find_place

BOOK = Rulebook(LAWS)
FLORIDA, NEW_YORK = "+13052345678", "+12122345678"
NOON = datetime(2026, 11, 20, 17, tzinfo=UTC)
NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)


def own(jurisdiction: str, hours: str, cap: int | None = None, **changed: object) -> Rule:
    rule = Rule(jurisdiction, EVERY_DAY, span(hours), cap, "", date(2026, 11, 23), is_verified=True, own_id=7)
    return replace(rule, **changed)


def to(phone: str, attempts: list[datetime] | None = None, book: Rulebook = BOOK, weekly_cap: int = 6) -> Recipient:
    return Recipient(find_place(phone), book, weekly_cap, attempts or [])


def test_the_rule_of_a_state_tightens_the_federal_one() -> None:
    assert BOOK.week("US-FL") == (Span(480, 1200),) * 7
    assert BOOK.week("US-NY") == (Span(480, 1260),) * 7
    assert BOOK.week("US-TX") == (Span(540, 1260),) * 6 + (Span(720, 1260),)
    assert BOOK.week("US-RI")[6] == Span(0, 0)


def test_the_default_holds_only_where_no_law_names_the_country() -> None:
    assert [rule.id for rule in BOOK.rules_of("GB")] == ["*"]
    assert [rule.id for rule in BOOK.rules_of("US-TX")] == ["US", "US-TX.monday-saturday", "US-TX.sunday"]


def test_only_some_states_cap_the_texts_of_a_day() -> None:
    capped = {state: BOOK.cap(f"US-{state}") for state in ("FL", "OK", "MD", "WA", "NY")}

    assert capped == {state: Cap(3, f"US-{state}") for state in ("FL", "OK", "MD", "WA")} | {"NY": None}


def test_a_rule_of_the_account_tightens_the_law_and_does_not_loosen_it() -> None:
    assert Rulebook(LAWS, (own("*", "10:00-22:00"),)).week("US-FL") == (Span(600, 1200),) * 7
    assert Rulebook(LAWS, (own("US-FL", "07:00-22:00", 9),)).week("US-FL") == (Span(480, 1200),) * 7
    assert Rulebook(LAWS, (own("US-FL", "07:00-22:00", 9),)).cap("US-FL") == Cap(3, "US-FL")


def test_a_rule_that_overrides_the_law_stands_in_the_place_of_its_jurisdiction_only() -> None:
    book = Rulebook(LAWS, (own("US-FL", "07:00-22:00", overrides_law=True),))

    assert book.week("US-FL") == (Span(480, 1260),) * 7
    assert book.week("US-OK") == (Span(480, 1200),) * 7
    assert book.cap("US-FL") == Cap(3, "US-FL")
    assert Rulebook(LAWS, (own("US-FL", "07:00-22:00", 5, overrides_law=True),)).cap("US-FL") == Cap(5, "own.7")


def test_a_rule_overrides_the_law_on_its_weekdays_only() -> None:
    sunday = own("US-TX", "09:00-21:00", days=(Weekday.sunday,), overrides_law=True)

    assert Rulebook(LAWS, (sunday,)).week("US-TX") == (Span(540, 1260),) * 7


@pytest.mark.parametrize("wrong", ["8-21", "25:00-26:00", "08:00", "24:01-24:00", "08:60-09:00"])
def test_a_time_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="from 00:00 to 24:00"):
        span(wrong)


def test_a_time_is_read_and_written_alike() -> None:
    assert span("08:05-24:00") == Span(485, 1440)
    assert (clock(485), clock(1440)) == ("08:05", "24:00")


def test_a_text_in_the_window_and_below_the_caps_leaves_now() -> None:
    assert decide(to(NEW_YORK, [NOON - timedelta(hours=1)] * 5), NOON, seed=1).deferral is None


def test_quiet_hours_defer_a_text_and_name_the_rule() -> None:
    timing = decide(to(FLORIDA), NIGHT, seed=1)

    assert timing.by_cap is None
    assert timing.by_hours is not None
    assert timing.by_hours.rule == "US-FL"
    assert timing.by_hours.until is not None
    assert timedelta(0) <= timing.by_hours.until - datetime(2026, 11, 21, 13, tzinfo=UTC) <= JITTER


def test_a_cap_defers_a_text_until_the_third_last_attempt_is_a_day_old() -> None:
    attempts = [NOON - timedelta(hours=hours) for hours in (20, 4, 3)]
    timing = decide(to(FLORIDA, attempts), NOON, seed=1)

    assert timing.by_cap is not None
    assert timing.by_cap.rule == "US-FL"
    assert timing.by_cap.until is not None
    assert timing.by_hours is None or timing.by_hours.until == timing.by_cap.until
    assert timing.by_cap.until >= attempts[0] + DAY


@pytest.mark.parametrize(("last", "is_capped"), [(14, False), (12, True)], ids=["before", "after"])
def test_a_cap_that_frees_before_the_window_opens_puts_a_text_off_no_longer(last: int, *, is_capped: bool) -> None:
    attempts = [NIGHT - timedelta(hours=hours) for hours in (last, 2, 1)]  # the window opens 11 hours after NIGHT

    timing = decide(to(FLORIDA, attempts), NIGHT, seed=1)

    assert timing.by_cap is not None
    assert timing.is_capped is is_capped


def test_an_attempt_that_is_a_day_old_counts_no_more() -> None:
    attempts = [NOON - DAY, NOON - timedelta(hours=2), NOON - timedelta(hours=1)]

    assert decide(to(FLORIDA, attempts), NOON, seed=1).deferral is None


def test_the_account_caps_the_texts_of_a_week() -> None:
    timing = decide(to(NEW_YORK, [NOON - timedelta(hours=hours) for hours in range(60, 0, -10)]), NOON, seed=1)

    assert timing.by_cap is not None
    assert timing.by_cap.rule == WEEKLY_RULE
    assert timing.is_beyond(NOON + timedelta(hours=72))


def test_zones_that_never_open_together_defer_a_text_for_ever() -> None:
    nowhere = Rulebook(LAWS, (own("*", "09:00-09:00"),))

    assert decide(to(FLORIDA, book=nowhere), NOON, seed=1).deferral == Deferral(None, "own.7")


@given(
    hours=st.lists(st.integers(-70, 200), max_size=12),
    phone=st.sampled_from([FLORIDA, NEW_YORK, "+12702345678", "+18002345678", "+61412345678"]),
    minutes=st.integers(0, 7 * 24 * 60),
)
def test_the_caps_hold_at_the_time_to_which_a_text_is_deferred(hours: list[int], phone: str, minutes: int) -> None:
    now = NOON + timedelta(minutes=minutes)
    attempts = sorted(now - timedelta(hours=each) for each in hours)
    recipient = to(phone, attempts)
    deferral = decide(recipient, now, seed=minutes).deferral
    leaves = deferral.until if deferral else now
    cap = BOOK.cap(recipient.place.jurisdiction)

    assert leaves is not None
    assert leaves >= now
    assert len([each for each in attempts if each > leaves - WEEK]) < 6
    assert cap is None or len([each for each in attempts if each > leaves - DAY]) < cap.most
