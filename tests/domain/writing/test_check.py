"""Checking what writers wrote against the brief."""

import pytest

from app.domain.writing.checking import faults
from app.domain.writing.writer import Brief, Kind, Turn

BRIEF = Brief("20% off at https://www.acme.com/sale until Friday, $1,000 cap, call 555-0100. Reply YES", "7th Avenue")
END = " Reply STOP to opt out."


@pytest.mark.parametrize(
    "text",
    [
        "20% off!",
        "Hi {first_name}, 20 % off until Friday.",
        "See acme.com/sale.",
        "See https://acme.com/sale!",
        "It's 7th Avenue: $1000 cap.",
        "Call 555-0100 or reply YES.",
        "Feel free to ask.",
        "Reply HELP for help.",
    ],
)
def test_a_text_that_states_facts_of_the_brief_has_no_fault(text: str) -> None:
    assert faults(text + END, BRIEF) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Hi {name}!", "It has a blank that is not filled in: {name}."),
        ("Hi {first_name!", "It has a blank that is not filled in: {."),
        ("From [Company]", "It has a blank that is not filled in: [Company]."),
        ("Only 20 left", None),
        ("Only 21 left", "It states '21', which the brief does not."),
        ("Call 555-0101", "It states '0101', which the brief does not."),
        ("See acme.co", "It states 'acme.co', which the brief does not."),
        ("See https://acme.com/sale2", "It states 'acme.com/sale2', which the brief does not."),
        ("Until Sunday", "It states 'sunday', which the brief does not."),
        ("Come tomorrow", "It states 'tomorrow', which the brief does not."),
        ("It is free", "It states 'free', which the brief does not."),
        ("Get twenty off", "It states 'twenty', which the brief does not."),
        ("Reply GO to join", "It asks for the reply GO, which the brief does not."),
    ],
)
def test_a_fact_that_the_brief_does_not_state_is_named_as_a_fault(text: str, fault: str | None) -> None:
    assert faults(text + END, BRIEF) == ([fault] if fault else [])


def test_a_bracket_may_be_the_customers_own() -> None:
    assert faults("Doors open [rear entrance]" + END, Brief("open house [rear entrance]", "Acme")) == []


def test_a_price_is_more_than_its_number() -> None:
    assert faults("$20 off" + END, BRIEF) == ["It states '$20', which the brief does not."]


@pytest.mark.parametrize(
    ("brief", "text"),
    [
        ("80 dollars", "$80"),
        ("$80", "80 dollars"),
        ("50 euros", "50 \u20ac"),
        ("\u20ac50", "50 euros"),
        ("20 percent", "20%"),
    ],
)
def test_a_price_in_words_is_the_same_as_with_its_sign(brief: str, text: str) -> None:
    assert faults(text + END, Brief(brief, "Acme")) == []


def test_a_price_in_another_currency_is_another_price() -> None:
    assert faults("£80" + END, Brief("80 dollars", "Acme")) == ["It states '£80', which the brief does not."]


def test_a_text_must_say_how_to_opt_out() -> None:
    assert faults("20% off", BRIEF) == ["It does not say how to opt out."]


def test_a_text_must_fit_in_one_message() -> None:
    assert faults("a" * 1578 + END, BRIEF) == ["It has 1601 characters; the limit is 1600."]
    assert faults("a" * 1508 + END, BRIEF) == ["It takes 11 SMS parts; the limit is 10."]
    assert faults("a" * 1507 + END, BRIEF) == []


def test_a_placeholder_is_known_or_the_briefs_own_and_whole() -> None:
    brief = Brief("Your order {order_id} is ready", "Acme", placeholders=frozenset({"first_name", "custom.plan"}))

    assert faults("{first_name|there}, {order_id} of {custom.plan:upper} is ready" + END, brief) == []
    assert faults("{first_name|Free}" + END, brief) == ["It states 'free', which the brief does not."]
    assert faults("{order}" + END, brief) == ["It has a blank that is not filled in: {order}."]
    assert faults("{order_id" + END, brief) == ["It has a blank that is not filled in: {."]


def test_a_reply_needs_no_notice_and_is_held_to_its_parts_and_the_words_of_the_business() -> None:
    turns = (Turn(True, "Is it $5, or $7?"), Turn(False, "It was $9 in May."))
    brief = Brief("", "Acme", kind=Kind.reply, turns=turns, needs_opt_out=False, max_parts=1)

    assert faults("It was $9.", brief) == []
    assert faults("It is $5.", brief) == [f"It states {fact!r}, which is not in the knowledge." for fact in ("$5", "5")]
    assert faults("Reply GO.", brief) == ["It asks for the reply GO, which is not in the knowledge."]
    assert faults("a" * 161, brief) == ["It takes 2 SMS parts; the limit is 1."]
    assert faults(" ", brief) == ["It is empty."]
