"""The grammar of placeholders: the faults that are refused when a text is saved."""

import pytest

from app.domain.accounts.placeholders import PLACEHOLDERS
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.placeholders import PlaceholderName
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.messages.errors import MessageTooLong
from app.domain.templates import checking
from app.domain.templates.grammar import Fault, Filter, Placeholder, check, parse
from app.domain.templates.vocabulary import OF_CONTACTS

FILTERS = "Filters are title, upper, lower, first_word and date(d MMM yyyy)."
BRACES = "Write {{ and }} for braces that are sent."


def reasons(text: str) -> list[str]:
    return [fault.reason for fault in check(text, OF_CONTACTS)]


@pytest.mark.parametrize(
    "text",
    [
        "No placeholder.",
        "{first_name} {last_name} {company_name} {email} {phone}",
        "{first_name|friend}, {first_name:title|} { first_name : first_word : title | you there }",
        "{created_at} {created_at:date(EEE d MMM 'at' h:mm a)|soon}",
        "{{literal}} {{{first_name}}}",
    ],
)
def test_a_text_of_the_grammar_has_no_fault(text: str) -> None:
    assert reasons(text) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hi {firstname}", "{firstname} at character 4 is not a placeholder. Did you mean {first_name}?"),
        ("{First Name}", "{First Name} at character 1 is not a placeholder. Did you mean {first_name}?"),
        ("{company}", "{company} at character 1 is not a placeholder. Did you mean {company_name}?"),
        (
            "{zzz}",
            "{zzz} at character 1 is not a placeholder. There are {first_name}, {last_name}, {email}, {phone}, "
            "{created_at}, {company_name}.",
        ),
        ("{}", f"{{}} at character 1 names nothing. {BRACES}"),
        ("{|you}", f"{{|you}} at character 1 names nothing. {BRACES}"),
        ("Hi {first_name", f"The {{ at character 4 has no }}. {BRACES}"),
        ("Hi first_name}", f"The }} at character 14 has no {{. {BRACES}"),
        (
            "{first_name|a|b}",
            "{first_name|a|b} at character 1 has more than one |. A placeholder has one fallback.",
        ),
        ("{first_name:shout}", f"{{first_name:shout}} at character 1 has an unknown filter, shout. {FILTERS}"),
        ("{first_name:}", f"{{first_name:}} at character 1 has a filter that cannot be read: :. {FILTERS}"),
        (
            "{first_name:upper(x)}",
            "{first_name:upper(x)} at character 1 gives upper a format, which only date takes.",
        ),
        ("{first_name:date(d)}", "{first_name} at character 1 is a text, which date does not take."),
        ("{created_at:upper}", "{created_at} at character 1 is a date, which upper does not take."),
        (
            "{created_at:date}",
            "{created_at:date} at character 1 has no format. Write one in brackets, such as date(d MMM yyyy).",
        ),
        (
            "{created_at:date()}",
            "{created_at:date()} at character 1 needs a format of 1 to 40 characters, such as date(d MMM yyyy).",
        ),
        (
            "{created_at:date('x)}",
            "{created_at:date('x)} at character 1 has an apostrophe in its format without a second one.",
        ),
        (
            "{created_at:date(d q)}",
            "{created_at:date(d q)} at character 1 has q in its format, which is none of yyyy, yy, MMMM, MMM, MM, M, "
            "dd, d, EEEE, EEE, HH, H, hh, h, mm, ss, a. Set texts between apostrophes.",
        ),
    ],
)
def test_a_fault_is_named_with_its_place_and_its_correction(text: str, reason: str) -> None:
    assert reasons(text) == [reason]


def test_every_fault_of_a_text_is_found_in_the_order_of_their_places() -> None:
    found = check("{nobody} } {first_name:shout}", OF_CONTACTS)

    assert [(fault.start, fault.end) for fault in found] == [(0, 8), (9, 10), (11, 29)]


def test_a_faulty_placeholder_is_a_literal() -> None:
    parsed = parse("{first_name:shout} {last_name}{{")

    assert parsed.nodes == ["{first_name:shout}", " ", Placeholder("last_name", (), None, 19, 30), "{"]
    assert [type(fault) for fault in parsed.faults] == [Fault]


def test_a_placeholder_has_filters_in_order_and_a_fallback() -> None:
    [placeholder] = parse("{ a.b_1 :first_word: date(h:mm a) | you:all }").placeholders

    assert placeholder == Placeholder("a.b_1", (Filter("first_word"), Filter("date", "h:mm a")), " you:all ", 0, 45)


def test_an_area_adds_its_names_to_those_there_are() -> None:
    booking = OF_CONTACTS.extend([PlaceholderName("booking.title", "The title of the booking.", "Haircut")])

    assert check("{booking.title} {first_name}", booking) == []
    assert [fault.start for fault in check("{booking.title} {first_name}", OF_CONTACTS)] == [0]
    assert booking.find_nearest("bookingtitle") == "booking.title"
    assert PLACEHOLDERS[0].name in OF_CONTACTS.names


def test_a_text_is_refused_for_its_first_fault_at_its_field() -> None:
    checking.check("a" * MAX_LENGTH, OF_CONTACTS, "body")

    with pytest.raises(InvalidInput) as refused:
        checking.check("Hi {name} }", OF_CONTACTS, "steps[0].body")
    assert str(refused.value) == "{name} at character 4 is not a placeholder. Did you mean {first_name}?"
    assert refused.value.field == "steps[0].body"
    with pytest.raises(InvalidInput, match=r"body must not be empty\."):
        checking.check(" \n", OF_CONTACTS, "body")
    with pytest.raises(MessageTooLong):
        checking.check("a" * (MAX_LENGTH + 1), OF_CONTACTS, "body")


@pytest.mark.parametrize(
    "inner", ["{blanks}x{blanks}", "x{blanks}y", "x:{blanks}y{blanks}z", "x:date({blanks}", "{blanks}|x|{blanks}"]
)
def test_a_text_of_blanks_is_read_at_once(inner: str) -> None:
    text = "{" + inner.replace("{blanks}", " " * 2000) + "}"

    assert parse(text).faults or [each.name for each in parse(text).placeholders] in (["x"], ["x" + " " * 2000 + "y"])
