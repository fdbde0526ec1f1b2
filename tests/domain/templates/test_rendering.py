"""Rendering texts with placeholders."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.kernel.sms_parts import Encoding
from app.domain.templates.grammar import check
from app.domain.templates.rendering import MAX_VALUE, Rendering, compiled
from app.domain.templates.vocabulary import OF_CONTACTS

ANN = {"first_name": "Ann", "last_name": "Lee", "company_name": "Blue Door"}
NOBODY = {"company_name": "Blue Door"}
AT = datetime(2026, 11, 3, 14, 5, 9, tzinfo=UTC)

texts = st.text(alphabet=st.sampled_from("{}|:()' ,.!\nafirst_name%s\u200b’ë"), max_size=40)
values = st.none() | st.text(max_size=100) | st.integers() | st.datetimes() | st.dates() | st.lists(st.text())
placeholders = st.sampled_from(
    [
        "{first_name}",
        "{last_name|friend}",
        "{company_name:upper}",
        "{first_name:first_word:title|}",
        "{created_at:date(EEE d MMM)|soon}",
        "{{x}}",
    ]
)
templates = st.lists(placeholders | st.text(alphabet="ab ,.!?\n%’", max_size=5), max_size=8).map("".join)


def shown(text: str, values: Mapping[str, object], **fallbacks: str) -> str:
    return compiled(text, tuple(fallbacks.items())).render(values).text


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hi {first_name} {last_name}, {company_name} here.", "Hi Ann Lee, Blue Door here."),
        ("{first_name}{first_name}", "AnnAnn"),
        ("No placeholder,  two spaces .", "No placeholder,  two spaces ."),
        ("100% {{of}} {{{first_name}}} %s", "100% {of} {Ann} %s"),
        ("{first_name:upper} {company_name:first_word} {last_name:lower}", "ANN Blue lee"),
    ],
)
def test_values_stand_where_their_names_stood(text: str, filled: str) -> None:
    assert compiled(text).render(ANN) == Rendering(filled, ())


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hi {first_name}, your table is ready.", "Hi, your table is ready."),
        ("Hi {first_name}! {company_name} here", "Hi! Blue Door here"),
        ("Dear {first_name} {last_name} of ours", "Dear of ours"),
        ("{first_name}, welcome", "welcome"),
        ("Hello.\n{first_name}, welcome", "Hello.\nwelcome"),
        ("Thanks {first_name}\nBlue Door", "Thanks\nBlue Door"),
        ("So,  {first_name} , it is  here", "So, it is  here"),
        ("See you here, {first_name}!", "See you here!"),
        ("See you - {first_name}!", "See you!"),
        ("Hi, {first_name}, {last_name}!", "Hi!"),
        ("Note: {first_name}, it is here", "Note: it is here"),
        ("Great! {first_name}, it is here", "Great! it is here"),
        ("Thanks! {first_name}.\nBlue Door", "Thanks!\nBlue Door"),
        ("Thanks, {first_name}\nBlue Door", "Thanks\nBlue Door"),
        ("From: {first_name}", "From:"),
        ("Bye – {first_name}", "Bye"),
        ("Your table, {first_name} {last_name}, is ready", "Your table, is ready"),
        ("Your table ({first_name}) is ready ( {last_name} ).", "Your table is ready."),
        ("{first_name}? {last_name} - your table", "your table"),
        ("{first_name}.example.com, {last_name} .5", ".example.com, .5"),
        ("a{first_name}b a {first_name}b a{first_name} b", "ab a b a b"),
        ("{first_name}", ""),
    ],
)
def test_an_empty_value_leaves_no_gap_and_the_rest_of_the_text_as_it_is(text: str, filled: str) -> None:
    assert compiled(text).render(NOBODY).text == filled


@pytest.mark.parametrize("nothing", [None, "", "  ", "\n\t", "\u200b\u00a0"])
def test_a_fallback_stands_for_a_value_that_is_missing_or_blank(nothing: str | None) -> None:
    values = {"first_name": nothing}

    assert shown("Hi {first_name|friend}!", values) == "Hi friend!"
    assert shown("Hi {first_name|friend}!", values, first_name="you") == "Hi friend!"
    assert shown("Hi {first_name}!", values, first_name="you") == "Hi you!"
    assert shown("Hi {first_name|}!", values, first_name="you") == "Hi!"
    assert compiled("{first_name} {last_name|x} {first_name}").render(values).missing == (
        "first_name",
        "last_name",
        "first_name",
    )


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("  Ann \n Lee ", "Ann Lee"),
        ("{last_name}", "{last_name}"),
        ("{{x}}", "{{x}}"),
        ("%s %(x)s \\1", "%s %(x)s \\1"),
        ("A\u200bnn\x07", "Ann"),
        ("Ann\ud800", "Ann"),
        ("Zoe\u0308", "Zoë"),
        ("n" * 65, "n" * 64),
        ("n" * 63 + " n", "n" * 63),
        (7, "7"),
        (date(2026, 11, 3), "3 Nov 2026"),
    ],
)
def test_a_value_is_shown_on_one_line_and_never_expands(value: object, filled: str) -> None:
    assert shown("{first_name}", {"first_name": value, "last_name": "Lee"}) == filled


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ("ANN lee", "Ann Lee"),
        ("o'brien-smith", "O'Brien-Smith"),
        ("o’brien", "O’Brien"),
        ("MCDONALD'S", "Mcdonald's"),
        ("élodie", "Élodie"),
    ],
)
def test_title_begins_words_with_a_capital(value: str, filled: str) -> None:
    assert shown("{first_name:title}", {"first_name": value}) == filled


def test_a_filter_does_not_make_a_value_longer_than_others() -> None:
    assert shown("{first_name:upper}", {"first_name": "ß" * 64}) == "S" * 64


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{created_at}", "3 Nov 2026"),
        ("{created_at:date(EEEE d MMMM yyyy)}", "Tuesday 3 November 2026"),
        ("{created_at:date(EEE dd.MM.yy 'at' h:mm a)}", "Tue 03.11.26 at 2:05 pm"),
        ("{created_at:date(M/d HH:mm:ss hh H)}", "11/3 14:05:09 02 14"),
    ],
)
def test_a_date_is_written_by_its_format(text: str, filled: str) -> None:
    assert shown(text, {"created_at": AT}) == filled


def test_the_iso_text_of_a_date_is_a_date_and_another_text_is_missing() -> None:
    text = compiled("{created_at:date(d MMM)|soon}")

    assert text.render({"created_at": "2026-11-03T14:05:09Z"}) == Rendering("3 Nov", ())
    assert text.render({"created_at": "some day"}) == Rendering("soon", ("created_at",))


def test_one_name_can_change_the_encoding_of_its_text_alone() -> None:
    text = compiled("Hi {first_name}, " + "a" * 140)

    assert [text.render({"first_name": name}).parts.segments for name in ("Ann", "Zoë")] == [1, 3]
    assert text.render({"first_name": "Zoë"}).parts.encoding is Encoding.ucs_2


def test_a_compiled_text_names_the_values_that_it_needs() -> None:
    assert compiled("{first_name} {{x}} {first_name:upper} {company_name|y}").names == {"first_name", "company_name"}


@given(texts, st.dictionaries(st.sampled_from(["first_name", "a", "f"]), values))
def test_no_text_and_no_value_make_rendering_fail(text: str, given: dict[str, object]) -> None:
    rendered = compiled(text).render(given)

    rendered.text.encode()
    assert "\0" not in rendered.text


@given(templates, st.fixed_dictionaries({}, optional=dict.fromkeys(OF_CONTACTS.names, values)))
def test_a_text_that_can_be_saved_renders_for_any_contact(text: str, contact: dict[str, object]) -> None:
    assert check(text, OF_CONTACTS) == []

    rendered = compiled(text).render(contact)

    assert len(rendered.text) <= len(text) + text.count("{") * MAX_VALUE


@given(templates, st.text(alphabet="{}|:ab_%s(){first_name}", max_size=30))
def test_a_value_never_expands(text: str, value: str) -> None:
    kept = dict.fromkeys(OF_CONTACTS.names, "SECRET")

    assert "SECRET" not in compiled("{first_name}").render({**kept, "first_name": value}).text
    assert compiled("x{phone}x").render({"phone": value}).text.count("x") == 2 + " ".join(value.split()).count("x")


@given(templates, st.lists(st.text(alphabet="0123456789", min_size=1, max_size=9), min_size=2, max_size=4, unique=True))
def test_a_text_shows_the_values_of_its_own_contact_alone(text: str, people: list[str]) -> None:
    template = compiled(text)
    contacts = [dict.fromkeys(OF_CONTACTS.names, f"<{person}>") for person in people]

    rendered = [template.render(contact).text for contact in contacts]

    for person, own in zip(people, rendered, strict=True):
        assert [other for other in people if other != person and f"<{other}>" in own] == []


def test_a_text_of_blanks_is_rendered_at_once() -> None:
    blanks = " " * 100_000

    assert compiled(f"a{blanks}b{{first_name}}").render({}).text == f"a{blanks}b"
    assert compiled(f"a{blanks}{{first_name}}b").render({}).text == f"a{blanks}b"
    assert compiled(f"a{' -' * 50_000}{{first_name}}!").render({}).text == f"a{' -' * 49_999}!"
    assert compiled("{first_name}, " * 50_000 + "b").render({}).text == "b"
