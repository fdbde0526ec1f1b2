"""The texts of a campaign, of which those for contacts with the same values are rendered once."""

from dataclasses import astuple
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.domain.campaigns.content import Content
from app.domain.campaigns.texts import Texts
from app.domain.contacts import placeholders
from app.domain.kernel import sms_parts

COLUMNS = ("id", "first_name", "email")
CONTENT = Content("Hi {first_name|there}, {custom.size} {custom.vip}“{company_name}”", "Blue Door", {})

names = st.sampled_from(["", "Ann", "Zoë", " Ann"])
sizes = st.sampled_from([1, 1.0, True, False, 0, "1", "S"])
people = st.lists(st.tuples(names, st.fixed_dictionaries({}, optional={"size": sizes, "vip": sizes})), max_size=20)


def texts(*, is_strict: bool = False, max_segments: int = 10, content: Content = CONTENT) -> Texts:
    return Texts(content, COLUMNS, is_strict, max_segments)


@given(people)
def test_each_contact_gets_the_text_of_its_own_values(people: list[tuple[str, Any]]) -> None:
    shared = texts()

    for name, custom in people:
        found = shared.find((7, name, "x@example.com"), custom)

        rendering = CONTENT.render(placeholders.values({"first_name": name}, custom))
        assert found.body == CONTENT.encode(rendering.text)
        assert found.missing == rendering.missing
        assert found.segments == sms_parts.count(found.body).segments


def test_a_text_that_cannot_be_sent_has_the_reason() -> None:
    row = (7, "", "")

    assert texts(is_strict=True).find(row, {}).reason == "missing_merge_field"
    assert texts(content=Content("{first_name}", "", {})).find(row, {}).reason == "empty_text"
    assert texts(max_segments=0).find(row, {"size": "S"}).reason == "message_too_long"
    hello = texts(content=Content("Hello", "", {})).find(row, {})
    assert astuple(hello) == ("Hello", sms_parts.Encoding.gsm_7, 1, (), None, "")
