"""Generated arguments of tools: valid ones, and ones with a single fault."""

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Json = dict[str, Any]

WORDS = st.text(st.characters(codec="ascii", categories=("Lu", "Ll")), min_size=1, max_size=20)
ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
SENSIBLE: dict[str, SearchStrategy[Any]] = {
    **dict.fromkeys(("message", "body", "name", "label", "first_name", "last_name", "source", "tag"), WORDS),
    **dict.fromkeys(("description", "goal"), st.sampled_from(["20% off all haircuts", "Doors open at six"])),
    "tone": st.sampled_from(["friendly", ""]),
    "tags": st.lists(WORDS, max_size=3),
    "email": st.sampled_from(["", "ann@example.com"]),
    "delay_minutes": st.integers(0, 525_600),
    "steps": st.lists(
        st.fixed_dictionaries({"delay_minutes": st.integers(0, 100), "body": WORDS}), min_size=1, max_size=3
    ),
    "consent_attested": st.just(True),
    "offset": st.integers(0, 50),
    "idempotency_key": st.uuids().map(str),
    "audience": st.sampled_from([{"everyone": True}, {"tags": ["vip"], "excluded_tags": []}, {}]),
    "scheduled_at": st.builds(lambda: (datetime.now(UTC) + timedelta(days=1)).isoformat()),
    **dict.fromkeys(("since", "until"), st.just("2026-11-01T00:00:00Z")),
    "snoozed_until": st.builds(lambda: (datetime.now(UTC) + timedelta(days=1)).isoformat()),
    "local_at": st.builds(lambda: f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M}"),
    "max_credits": st.integers(1000, 2000),
    "contact_ids": st.lists(st.integers(1, 50), min_size=1, max_size=3),
    "add": st.lists(WORDS, min_size=1, max_size=3),
    "remove": st.just(["old tag"]),
    "country": st.sampled_from(["US", "GB"]),
    "phones": st.lists(st.sampled_from(["+12025550143", "07911 123456", "nothing"]), min_size=1, max_size=3),
    "filter": st.sampled_from(
        [
            {"field": "tags", "op": "has_any", "value": ["vip"]},
            {"any": [{"none": [{"field": "email", "op": "is_set"}]}, {"field": "score", "op": "gt", "value": ["5"]}]},
        ]
    ),
}
"""Values that the domain accepts as well, by the name of their parameter."""

OTHER_TYPES: dict[str, list[Any]] = {
    "string": [5, True, ["x"], {"x": "x"}],
    "integer": ["5", 1.5, [5], {}],
    "boolean": ["true", 1, []],
    "array": ["x", 5, {"0": "x"}],
    "object": ["x", 5, []],
}


def valid(schema: Json, given: dict[str, Any]) -> SearchStrategy[Json]:
    """Return arguments that fit a schema; `given` has the only good values of some parameters."""
    unknown = ("after", "confirmation", "preview_id")
    known = {name: each for name, each in schema["properties"].items() if name not in unknown}
    members = {name: st.just(given[name]) if name in given else value_of(name, each) for name, each in known.items()}
    required = {name: members.pop(name) for name in schema["required"]}
    return st.fixed_dictionaries(required, optional=members)


ALTERNATIVES = {
    "bulk_tag": ("contact_ids", "segment_id"),
    "bulk_assign": ("contact_ids", "segment_id"),
    "preview_segment": ("segment_id", "filter"),
    "enroll_in_drip_sequence": ("contact_id", "phone", "contact_ids"),
}
"""The parameters of a tool of which a call gives one."""


def is_consistent(tool: str, arguments: Json) -> bool:
    """Return whether arguments that each fit the schema of a tool fit together."""
    has_one = tool not in ALTERNATIVES or len({*ALTERNATIVES[tool]} & arguments.keys()) == 1
    if not has_one or _is_cleared_and_set(arguments) or {"scheduled_at", "local_at"} <= arguments.keys():
        return False
    match tool:
        case "bulk_tag":
            return bool({"add", "remove"} & arguments.keys())
        case "update_conversation":
            return ("snoozed_until" in arguments) is (arguments.get("status") == "snoozed")
        case "validate_contacts":
            return bool({"contact_ids", "phones"} & arguments.keys())
        case "export_contacts":
            is_blank = any(not arguments.get(name, "any").strip() for name in ("search", "tag"))
            is_double = "segment_id" in arguments and bool({"search", "stage", "status", "tag"} & arguments.keys())
            return not is_blank and not is_double
        case _:
            return True


def _is_cleared_and_set(arguments: Json) -> bool:
    return any(arguments.get(f"clear_{name}") and name in arguments for name in ("max_credits", "phone_number_id"))


def value_of(name: str, schema: Json) -> SearchStrategy[Any]:
    """Return values of a parameter."""
    if name == "audience" and schema["type"] == "string":
        return WORDS
    if name in SENSIBLE:
        return SENSIBLE[name]
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"]:
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", 1), min(schema.get("maximum", 50), 50))
        case _:
            return ANYTHING


@st.composite
def faulty(draw: st.DrawFn, schema: Json, given: dict[str, Any]) -> tuple[str, Json]:
    """Return arguments with one fault, and the name of the parameter at fault."""
    arguments = dict(draw(valid(schema, given)))
    faults: list[tuple[str, Any]] = [("unknown_name", 1)]
    for name, each in schema["properties"].items():
        if name in ("consent_attested", "confirmation"):
            continue
        faults += [(name, value) for value in OTHER_TYPES[each["type"]]]
        faults += [(name, value) for value in _beyond(each)]
        if name in schema["required"]:
            faults.append((name, None))
    name, value = draw(st.sampled_from(faults))
    if value is None:
        arguments.pop(name)
    else:
        arguments[name] = value
    return name, arguments


def _beyond(schema: Json) -> list[Any]:
    """Return values of the right type beyond the limits of a schema."""
    values: list[Any] = ["no such value"] if "enum" in schema else []
    if "minimum" in schema:
        values.append(schema["minimum"] - 1)
    if "maximum" in schema:
        values.append(schema["maximum"] + 1)
    if "minLength" in schema:
        values.append("x" * (schema["minLength"] - 1))
    if "maxLength" in schema:
        values.append("x" * (schema["maxLength"] + 1))
    if "type" in schema.get("items", {}):
        values += [[value] for value in OTHER_TYPES[schema["items"]["type"]]]
    return values
