"""JSON Schemas (draft 2020-12) read off GraphQL types: what an input takes and what a selection returns."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    is_required_input_field,
)

from app.operations.errors import InvalidDocument

Json = dict[str, Any]
Fragments = Mapping[str, FragmentDefinitionNode]
SelectingNode = FieldNode | OperationDefinitionNode

NULL: Json = {"type": "null"}

SCALARS: dict[str, Json] = {
    "BigInt": {"type": "integer", "format": "int64"},
    "Boolean": {"type": "boolean"},
    "DateTime": {"type": "string", "format": "date-time"},
    "Decimal": {"type": "number"},
    "Float": {"type": "number"},
    "ID": {"type": "string"},
    "Int": {"type": "integer", "format": "int32"},
    "JSON": {"type": ["array", "boolean", "number", "object", "string"]},
    "String": {"type": "string"},
}


def accepts(kind: GraphQLType) -> Json:
    """Describe the values of an input type. A list takes a single value too, as GraphQL has it."""
    if isinstance(kind, GraphQLNonNull):
        return _any_of(_input_options(kind.of_type))
    return _or_null(_input_options(kind))


def returns(kind: GraphQLType, nodes: Iterable[FieldNode], fragments: Fragments) -> Json:
    """Describe what fields of one response key give back under their selections."""
    if isinstance(kind, GraphQLNonNull):
        return _output(kind.of_type, nodes, fragments)
    return _or_null([_output(kind, nodes, fragments)])


def obj(properties: Mapping[str, Json], required: Iterable[str]) -> Json:
    """Describe an object."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def selected(
    kind: GraphQLObjectType, nodes: Iterable[SelectingNode], fragments: Fragments
) -> dict[str, list[FieldNode]]:
    """Return the fields that are selected beneath some nodes of one object, by response key."""
    found: dict[str, list[FieldNode]] = {}
    for parent in nodes:
        for node in _flatten(parent.selection_set, fragments):
            if node.name.value not in kind.fields:
                raise InvalidDocument(f"{node.name.value} cannot be selected in an operation")
            found.setdefault((node.alias or node.name).value, []).append(node)
    return found


def _input_options(kind: GraphQLType) -> list[Json]:
    if not isinstance(kind, GraphQLList):
        return [_input(kind)]
    item = kind.of_type.of_type if isinstance(kind.of_type, GraphQLNonNull) else kind.of_type
    if isinstance(item, GraphQLList):
        raise InvalidDocument("a list of lists has no place in an operation")
    return [_input(item), {"type": "array", "items": accepts(kind.of_type)}]


def _input(kind: GraphQLType) -> Json:
    if not isinstance(kind, GraphQLInputObjectType):
        return _leaf(kind)
    required = [name for name, field in kind.fields.items() if is_required_input_field(field)]
    return obj({name: _described(accepts(field.type), field) for name, field in kind.fields.items()}, required)


def _output(kind: GraphQLType, nodes: Iterable[FieldNode], fragments: Fragments) -> Json:
    match kind:
        case GraphQLList():
            return {"type": "array", "items": returns(kind.of_type, nodes, fragments)}
        case GraphQLObjectType():
            return _output_object(kind, nodes, fragments)
        case _:
            return _leaf(kind)


def _output_object(kind: GraphQLObjectType, nodes: Iterable[FieldNode], fragments: Fragments) -> Json:
    properties: dict[str, Json] = {}
    for key, inner in selected(kind, nodes, fragments).items():
        field = kind.fields[inner[0].name.value]
        properties[key] = _described(returns(field.type, inner, fragments), field)
    return obj(properties, properties)


def _leaf(kind: GraphQLType) -> Json:
    if isinstance(kind, GraphQLEnumType):
        return {"type": "string", "enum": list(kind.values)}
    if str(kind) not in SCALARS:
        raise InvalidDocument(f"the type {kind} has no JSON Schema")
    return dict(SCALARS[str(kind)])


def _described(schema: Json, field: GraphQLField | GraphQLInputField) -> Json:
    return schema | {"description": field.description} if field.description else schema


def _or_null(options: list[Json]) -> Json:
    if isinstance(options[0]["type"], list) and len(options) == 1:
        return {"type": [*options[0]["type"], "null"]}
    return _any_of([*options, NULL])


def _any_of(options: list[Json]) -> Json:
    return options[0] if len(options) == 1 else {"anyOf": options}


def _flatten(selection: SelectionSetNode | None, fragments: Fragments) -> Iterator[FieldNode]:
    for node in selection.selections if selection else ():
        if node.directives:
            raise InvalidDocument("a selection takes no directives: the answer of a document has one shape")
        match node:
            case FieldNode():
                yield node
            case FragmentSpreadNode():
                yield from _flatten(fragments[node.name.value].selection_set, fragments)
            case InlineFragmentNode():
                yield from _flatten(node.selection_set, fragments)
            case _:  # pragma: no cover - GraphQL has no fourth kind of selection
                raise InvalidDocument(f"{node.kind} is no selection")
