"""Conversion of callers' values to variables, and its error messages."""

import math
from pathlib import Path
from typing import Any

import orjson
import pytest
from graphql import build_schema
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from app.operations.arguments import MAX_DEPTH, Acceptor, Unacceptable
from app.operations.document import load

SDL = """
scalar BigInt
scalar DateTime
scalar JSON

enum Stage { new_lead won }

input Place { city: String!, tags: [String!] }

type Query {
  accept(
    phone: String!
    limit: Int! = 50
    id: BigInt
    stage: Stage
    tags: [String!]
    stages: [Stage!]
    urgent: Boolean
    rate: Float
    at: DateTime
    place: Place
    custom: JSON
  ): String
}
"""

DOCUMENT = """
query accept(
  $phone: String! $limit: Int! = 50 $id: BigInt $stage: Stage $tags: [String!] $stages: [Stage!] $urgent: Boolean
  $rate: Float $at: DateTime $place: Place $custom: JSON
) {
  accept(
    phone: $phone limit: $limit id: $id stage: $stage tags: $tags stages: $stages urgent: $urgent
    rate: $rate at: $at place: $place custom: $custom
  )
}
"""


@pytest.fixture(scope="module")
def acceptor(tmp_path_factory: pytest.TempPathFactory) -> Acceptor:
    return Acceptor(variables(tmp_path_factory.mktemp("documents")))


def variables(folder: Path) -> Any:
    (folder / "accept.graphql").write_text(DOCUMENT)
    [operation] = load(folder, build_schema(SDL))
    return operation.variables.values()


GOOD = {
    "phone": "+15551234567 é",
    "limit": 7,
    "id": 2**63 - 1,
    "stage": "won",
    "tags": ["a", "b"],
    "stages": ["won"],
    "urgent": False,
    "rate": 1.5,
    "at": "2026-01-31T09:30:00Z",
    "place": {"city": "Oslo", "tags": ["x"]},
    "custom": {"a": [1, None, "x"]},
}


def test_good_values_pass_as_they_are(acceptor: Acceptor) -> None:
    assert acceptor.values(GOOD) == GOOD


def test_an_omitted_value_stays_absent(acceptor: Acceptor) -> None:
    assert acceptor.values({"phone": "1"}) == {"phone": "1"}


def test_null_is_passed_on_where_it_may_stand(acceptor: Acceptor) -> None:
    accepted = acceptor.values({"phone": "1", "stage": None, "tags": None, "place": None, "custom": None})

    assert accepted == {"phone": "1", "stage": None, "tags": None, "place": None, "custom": None}


def test_members_that_are_no_variable_are_passed_over(acceptor: Acceptor) -> None:
    accepted = acceptor.values({"phone": "1", "colour": "red", "place": {"city": "Oslo", "colour": "red"}})

    assert accepted == {"phone": "1", "place": {"city": "Oslo"}}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Acceptor:
    return Acceptor(variables(tmp_path_factory.mktemp("documents")), strict=True)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"fone": "1"}, "fone is not known. Did you mean phone?"),
        ({"Limit": 5}, "Limit is not known. Did you mean limit?"),
        ({"zzz": 1}, "zzz is not known."),
        ({"y" * 100: 1}, f"{'y' * 60} is not known."),
        ({"place": {"city": "Oslo", "tag": "x"}}, "place.tag is not known. Did you mean place.tags?"),
        ({"tags": "vip"}, "tags must be an array of strings."),
        ({"place": {"city": "Oslo", "tags": "x"}}, "place.tags must be an array of strings."),
    ],
)
def test_a_tool_refuses_names_that_it_does_not_know_and_single_values(
    strict: Acceptor, wrong: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(Unacceptable) as refused:
        strict.values({"phone": "1"} | wrong)

    assert str(refused.value) == sentence
    assert strict.values(GOOD) == GOOD


def test_a_closed_object_refuses_unknown_members_at_each_depth(tmp_path: Path) -> None:
    closed = Acceptor(variables(tmp_path), closed=True)

    with pytest.raises(Unacceptable, match=r"^fone is not known\. Did you mean phone\?$"):
        closed.values({"phone": "1", "fone": "1"})
    with pytest.raises(Unacceptable, match=r"^place\.tag is not known\."):
        closed.values({"phone": "1", "place": {"city": "Oslo", "tag": "x"}})
    assert closed.values({"phone": "1", "tags": "vip"}) == {"phone": "1", "tags": ["vip"]}


NESTED = """
input Filter { all: [Filter!], not: Filter, tag: String }
type Query { find(filter: Filter): String }
"""


def nesting(levels: int) -> Any:
    return {"not": nesting(levels - 1)} if levels else {"tag": "vip", "colour": "red"}


def test_an_input_type_that_holds_itself_is_checked_to_its_depth(tmp_path: Path) -> None:
    (tmp_path / "find.graphql").write_text("query find($filter: Filter) { find(filter: $filter) }")
    [operation] = load(tmp_path, build_schema(NESTED))
    acceptor = Acceptor(operation.variables.values())

    kept = acceptor.values({"filter": {"all": [{"not": {"tag": "vip", "colour": "red"}}, {"tag": None}]}})
    assert kept == {"filter": {"all": [{"not": {"tag": "vip"}}, {"tag": None}]}}
    assert acceptor.values({"filter": nesting(MAX_DEPTH)})
    for wrong, sentence in [
        ({"all": [{"not": {"tag": 5}}]}, "filter.all[0].not.tag must be a string."),
        (nesting(MAX_DEPTH + 1), "filter must not be nested deeper than 64 levels."),
    ]:
        with pytest.raises(Unacceptable) as refused:
            acceptor.values({"filter": wrong})
        assert str(refused.value) == sentence


def test_a_single_value_becomes_a_list_where_a_list_is_taken(acceptor: Acceptor) -> None:
    accepted = acceptor.values({"phone": "1", "tags": "vip", "stages": "won", "place": {"city": "Oslo", "tags": "x"}})

    assert accepted["tags"] == ["vip"]
    assert accepted["stages"] == ["won"]
    assert accepted["place"] == {"city": "Oslo", "tags": ["x"]}


def test_a_whole_number_with_a_point_is_an_integer(acceptor: Acceptor) -> None:
    limit = acceptor.values({"phone": "1", "limit": 7.0})["limit"]

    assert (limit, type(limit)) == (7, int)


def nested(levels: int) -> Any:
    return [nested(levels - 1)] if levels > 1 else []


def test_json_may_be_nested_so_deep(acceptor: Acceptor) -> None:
    assert acceptor.values({"phone": "1", "custom": nested(MAX_DEPTH)})["custom"] == nested(MAX_DEPTH)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"phone": 5}, "phone must be a string."),
        ({"phone": None}, "phone must not be null."),
        ({"phone": "a\0b"}, "phone must not hold the character U+0000."),
        ({"phone": "a\ud800"}, "phone must not hold the character U+D800."),
        ({"limit": None}, "limit must not be null."),
        ({"limit": "7"}, "limit must be an integer."),
        ({"limit": True}, "limit must be an integer."),
        ({"limit": 7.5}, "limit must be an integer."),
        ({"limit": 2**31}, "limit must be an integer from -2147483648 to 2147483647."),
        ({"id": 2**63}, "id must be an integer from -9223372036854775808 to 9223372036854775807."),
        ({"id": -1e300}, "id must be an integer from -9223372036854775808 to 9223372036854775807."),
        ({"id": math.inf}, "id must be an integer."),
        ({"stage": "lost"}, "stage must be one of new_lead, won."),
        ({"stage": ["won"]}, "stage must be one of new_lead, won."),
        ({"stages": ["won", "lost"]}, "stages[1] must be one of new_lead, won."),
        ({"stages": 1}, "stages must be an array of strings."),
        ({"tags": 5}, "tags must be an array of strings."),
        ({"tags": ["a", 5]}, "tags[1] must be a string."),
        ({"tags": ["a", None]}, "tags[1] must not be null."),
        ({"tags": ["\0"]}, "tags[0] must not hold the character U+0000."),
        ({"urgent": 1}, "urgent must be true or false."),
        ({"rate": "1"}, "rate must be a number."),
        ({"rate": True}, "rate must be a number."),
        ({"rate": math.nan}, "rate must be a number."),
        ({"rate": 10**400}, "rate must be a number."),
        ({"at": 5}, "at must be a date and time with an offset, such as 2026-01-31T09:30:00Z."),
        ({"at": "tomorrow"}, "at must be a date and time with an offset, such as 2026-01-31T09:30:00Z."),
        ({"at": "2026-01-31T09:30:00"}, "at must be a date and time with an offset, such as 2026-01-31T09:30:00Z."),
        ({"place": "Oslo"}, "place must be an object."),
        ({"place": {}}, "place.city is required."),
        ({"place": {"city": 5}}, "place.city must be a string."),
        ({"place": {"city": "Oslo", "tags": [1]}}, "place.tags[0] must be a string."),
        ({"custom": {"a": ["\0"]}}, "custom must not hold the character U+0000."),
        ({"custom": {"\0": 1}}, "custom must not hold the character U+0000."),
        ({"custom": nested(MAX_DEPTH + 1)}, "custom must not be nested deeper than 64 levels."),
    ],
)
def test_a_value_that_does_not_fit_is_named(acceptor: Acceptor, wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Unacceptable) as refused:
        acceptor.values({"phone": "1"} | wrong)

    assert str(refused.value) == sentence


def test_a_required_value_must_be_given(acceptor: Acceptor) -> None:
    with pytest.raises(Unacceptable, match=r"^phone is required\.$"):
        acceptor.values({"limit": 5})


def test_texts_are_read_as_the_variables_they_are_for(acceptor: Acceptor) -> None:
    accepted = acceptor.texts(
        {
            "phone": ["12"],
            "limit": ["-7"],
            "urgent": ["true"],
            "rate": ["1e3"],
            "stage": ["won"],
            "tags": ["a", "b"],
            "stages": ["won"],
        }
    )

    assert accepted == {
        "phone": "12",
        "limit": -7,
        "urgent": True,
        "rate": 1000.0,
        "stage": "won",
        "tags": ["a", "b"],
        "stages": ["won"],
    }


@pytest.mark.parametrize(("text", "value"), [("true", True), ("1", True), ("false", False), ("0", False)])
def test_a_boolean_has_four_spellings(acceptor: Acceptor, text: str, value: bool) -> None:
    assert acceptor.texts({"phone": [""], "urgent": [text]})["urgent"] is value


def test_the_last_of_several_texts_counts_unless_a_list_is_taken(acceptor: Acceptor) -> None:
    accepted = acceptor.texts({"phone": ["1", "2"], "limit": ["x", "3"], "tags": ["1", "2"]})

    assert accepted == {"phone": "2", "limit": 3, "tags": ["1", "2"]}


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        ({"limit": [""]}, "limit must be an integer."),
        ({"limit": ["1_000"]}, "limit must be an integer."),
        ({"limit": [" 1"]}, "limit must be an integer."),
        ({"limit": ["٣"]}, "limit must be an integer."),
        ({"id": ["9223372036854775808"]}, "id must be an integer from -9223372036854775808 to 9223372036854775807."),
        ({"urgent": ["yes"]}, "urgent must be true or false."),
        ({"rate": ["nan"]}, "rate must be a number."),
        ({"rate": ["1e999"]}, "rate must be a number."),
        ({"phone": ["\0"]}, "phone must not hold the character U+0000."),
    ],
)
def test_a_text_that_does_not_fit_is_named(acceptor: Acceptor, texts: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(Unacceptable) as refused:
        acceptor.texts({"phone": [""]} | texts)

    assert str(refused.value) == sentence


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**31), 2**31 - 1) | st.floats(-1e9, 1e9)
    | st.sampled_from(["won", "new_lead"]) | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["city", "tags", "x"]), inner),
    max_leaves=6,
)  # fmt: skip


@given(
    raw=st.fixed_dictionaries(
        {},
        optional={name: JSON for name in GOOD if name != "at"} | {"colour": JSON},
    )
)
def test_the_acceptor_accepts_exactly_the_values_of_the_json_schema(
    acceptor: Acceptor, schema: Any, raw: dict[str, Any]
) -> None:
    fits = Draft202012Validator(schema).is_valid(raw)

    try:
        accepted = acceptor.values(raw)
    except Unacceptable:
        assert not fits
    else:
        assert fits
        assert orjson.loads(orjson.dumps(accepted)) == accepted


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    taken = list(variables(tmp_path_factory.mktemp("documents")))
    properties = {variable.name: variable.schema for variable in taken}
    return {"type": "object", "properties": properties, "required": [v.name for v in taken if v.required]}
