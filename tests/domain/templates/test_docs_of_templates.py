"""The examples of docs/templates.md render as the page says."""

import re
from datetime import UTC, datetime
from pathlib import Path

from app.domain.templates import dates, grammar
from app.domain.templates.lint import RULES
from app.domain.templates.rendering import compiled
from app.domain.templates.vocabulary import OF_CONTACTS

PAGE = (Path(__file__).parents[3] / "docs" / "templates.md").read_text()
AT = datetime(2026, 11, 3, 14, 5, 9, tzinfo=UTC)
ANN = {
    "first_name": "Ann Marie",
    "last_name": "LEE",
    "email": "",
    "phone": "+12025550143",
    "created_at": AT,
    "company_name": "Blue Door",
}
CODE = re.compile(r"`([^`]*)`")


def table(heads: str) -> list[list[list[str]]]:
    """Return the code in each cell of a table, by its rows."""
    rows = PAGE.partition(f"| {heads} |\n")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [row.replace(r"\|", "\0").split("|")[1:-1] for row in rows]
    return [[[code.replace("\0", "|") for code in CODE.findall(cell)] for cell in row] for row in cells]


def test_the_examples_are_sent_as_the_page_says() -> None:
    examples = [(text, sent) for [[text], [sent]] in table("Text | Sent")]

    assert [(text, compiled(text).render(ANN).text) for text, _ in examples] == examples
    assert [grammar.check(text, OF_CONTACTS) for text, _ in examples] == [[]] * 9


def test_the_page_lists_every_placeholder() -> None:
    listed = [name.strip("{}") for names, _ in table("Placeholder | Value") for name in names]

    assert listed == list(OF_CONTACTS.names)


def test_the_page_lists_every_letter_of_a_format_with_its_output() -> None:
    letters = {
        letter: shown
        for left, right in table("Letters | Shown for 3 November 2026, 14:05:09")
        for letter, shown in zip(left, right, strict=True)
    }

    assert letters == {letter: write(AT) for letter, write in dates.FIELDS.items()}
    assert dates.show(AT, "EEE d MMM 'at' h:mm a") == "Tue 3 Nov at 2:05 pm"


def test_the_page_lists_every_rule_of_the_checks() -> None:
    listed = [rule for rules, _ in table("Rule | Finding") for rule in rules]

    assert sorted(listed) == sorted(["placeholder", *(rule.id for rule in RULES)])


def test_the_error_of_the_page_is_the_one_of_the_service() -> None:
    assert grammar.check("Hi {firstname}", OF_CONTACTS)[0].reason in PAGE
