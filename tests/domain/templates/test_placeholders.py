"""Filling placeholders in."""

import pytest

from app.domain.kernel.errors import InvalidInput
from app.domain.templates.placeholders import check, fill

ANN = {"first_name": "Ann", "last_name": "Lee", "company_name": "Blue Door"}
NOBODY = {"company_name": "Blue Door"}


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hi {first_name} {last_name}, {company_name} here.", "Hi Ann Lee, Blue Door here."),
        ("{first_name}{first_name}", "AnnAnn"),
        ("No placeholder,  two spaces .", "No placeholder,  two spaces ."),
        ("A brace { stays }, so does {}", "A brace { stays }, so does {}"),
    ],
)
def test_values_stand_where_their_names_stood(text: str, filled: str) -> None:
    assert fill(text, ANN) == filled


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Hi {first_name}, your table is ready.", "Hi, your table is ready."),
        ("Hi {first_name}! {company_name} here", "Hi! Blue Door here"),
        ("Dear {first_name} {last_name} of ours", "Dear of ours"),
        ("{first_name}, welcome", "welcome"),
        ("Thanks {first_name}\nBlue Door", "Thanks\nBlue Door"),
        ("{first_name}", ""),
    ],
)
def test_what_is_not_known_leaves_no_gap(text: str, filled: str) -> None:
    assert fill(text, NOBODY) == filled


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("  Ann \n Lee ", "Ann Lee"),
        ("{last_name}", "{last_name}"),
        ("A\u200bnn\x07", "Ann"),
        ("Zoe\u0308", "Zoë"),
        ("n" * 65, "n" * 64),
        (r"\1", r"\1"),
    ],
)
def test_a_value_is_shown_on_one_line_and_is_no_text_of_its_own(value: str, shown: str) -> None:
    assert fill("{first_name}", {"first_name": value}) == shown


def test_a_name_that_is_not_known_is_refused_when_the_text_is_kept() -> None:
    check("{first_name} {last_name} {company_name} { } {}", "message")

    with pytest.raises(InvalidInput) as refused:
        check("Hi {first}", "message")

    sentence = "{first} is not a placeholder. There are {first_name}, {last_name}, {company_name}."
    assert str(refused.value) == sentence
