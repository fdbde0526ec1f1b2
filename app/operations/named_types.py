"""Renders JSON Schemas with their named types as references, or in full for tools."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from app.operations.json_schema import DEFINITIONS, NULL, Json

Types = Mapping[str, Json]

MOST_DESCRIBED = 5
"""The number of values of an enum up to which a tool describes each of them."""


def refer(schema: Json, types: Types, place: str) -> Json:
    """Return a schema whose named types are references to `place`, such as `#/components/schemas/`."""
    name = name_of(schema)
    if name is None:
        return _nullable(map_schema(schema, lambda inner: refer(inner, types, place)))
    known = types[name].get("description")
    notes = {note: schema[note] for note in ("default", "description") if note in schema and schema[note] != known}
    return {"$ref": f"{place}{name}"} | notes


def define(name: str, types: Types, place: str) -> Json:
    """Return the definition of a named type, with references to the others."""
    return map_schema(types[name], lambda inner: refer(inner, types, place))


def _nullable(schema: Json) -> Json:
    """Return a schema of one type or null with both types in one list."""
    options: list[Json] = schema.get("anyOf", [])
    if len(options) != 2 or options[1] != NULL or not isinstance(options[0].get("type"), str):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return options[0] | {"type": [options[0]["type"], "null"]} | rest


def name_of(schema: Json) -> str | None:
    """Return the name of a schema's type, defined or referred to."""
    return schema.get("title") or schema.get("$ref", "").removeprefix(DEFINITIONS) or None


def whole(schema: Json, types: Types) -> Json:
    """Return a schema for a tool: every type in full, except recursive ones in `$defs`.

    A list accepts no single value; the values of an enum are described in place.
    """
    written = _plain(schema, types)
    found: dict[str, Json] = {}
    _define_recursive(written, types, found)
    return written | ({"$defs": found} if found else {})


def _define_recursive(written: Json, types: Types, found: dict[str, Json]) -> None:
    for name in [*_references(written)]:
        if name not in found:
            found[name] = _in_full(types[name], types)
            _define_recursive(found[name], types, found)


def _references(schema: Json) -> Iterator[str]:
    if "$ref" in schema:
        yield schema["$ref"].removeprefix(DEFINITIONS)
    for inner in _inner(schema):
        yield from _references(inner)


def _plain(schema: Json, types: Types) -> Json:
    """Return a schema in full, or a reference where its type is recursive."""
    name = schema.get("title", "")
    if name in types and name in _references(types[name]):
        return {key: schema[key] for key in ("type", "description") if key in schema} | {"$ref": DEFINITIONS + name}
    return _in_full(schema, types)


def _in_full(schema: Json, types: Types) -> Json:
    plain = map_schema(_without_single(schema), lambda inner: _plain(inner, types))
    name = plain.pop("title", None)
    if "enum" in plain and name and (words := types[name].get("description")):
        own = plain.get("description", words)
        if len(plain["enum"]) > MOST_DESCRIBED:
            own = words = words.partition("\n- ")[0]
        values = "\n".join(line for line in words.splitlines() if line.startswith("- "))
        plain["description"] = own if own == words or not values else f"{own}\n{values}"
    return plain


def _without_single(schema: Json) -> Json:
    """Return the schema of a list without the alternative of a single value."""
    options: list[Json] = schema.get("anyOf", [])
    if not any(option.get("type") == "array" for option in options[1:]):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    kept = options[1:]
    return (kept[0] if len(kept) == 1 else {"anyOf": kept}) | rest


def _inner(schema: Json) -> Iterator[Json]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    if "items" in schema:
        yield schema["items"]


def map_schema(schema: Json, change: Callable[[Json], Json]) -> Json:
    """Return a schema with each of its parts changed."""
    changed: dict[str, Any] = dict(schema)
    if "properties" in schema:
        changed["properties"] = {name: change(inner) for name, inner in schema["properties"].items()}
    if "anyOf" in schema:
        changed["anyOf"] = [change(inner) for inner in schema["anyOf"]]
    if "items" in schema:
        changed["items"] = change(schema["items"])
    return changed
