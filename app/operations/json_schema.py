"""JSON Schemas (draft 2020-12) of GraphQL types: of inputs and of the results of selections."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLType,
    InlineFragmentNode,
    InputValueDefinitionNode,
    OperationDefinitionNode,
    SelectionSetNode,
    is_required_input_field,
)

from app.operations.directives import directive_values
from app.operations.errors import InvalidDocument

Json = dict[str, Any]
Fragments = Mapping[str, FragmentDefinitionNode]
SelectingNode = FieldNode | OperationDefinitionNode

NULL: Json = {"type": "null"}
DEFINITIONS = "#/$defs/"

_KEYWORDS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "min_items": "minItems",
    "max_items": "maxItems",
}
_LIMITING = {
    "string": ("minLength", "maxLength", "pattern"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}
"""The limits that a type can have."""

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


class Schemas:
    """Returns the schemas of the input and output of one operation.

    A named type (an enum, an input type, the selection of one fragment) bears its name as `title`; `types` collects
    them. Where an input type holds itself, its name is referred to under `#/$defs/`.
    """

    def __init__(self, fragments: Fragments, schema: GraphQLSchema) -> None:
        self.types: dict[str, Json] = {}
        self._fragments = fragments
        self._schema = schema
        self._open: list[str] = []

    def accepts(self, kind: GraphQLType) -> Json:
        """Return the schema of an input type. A list also accepts a single value, as in GraphQL."""
        if isinstance(kind, GraphQLNonNull):
            return _any_of(self._input_options(kind.of_type))
        return _or_null(self._input_options(kind))

    def returns(self, kind: GraphQLType, nodes: Sequence[FieldNode]) -> Json:
        """Return the schema of the result of the fields with one response key."""
        if isinstance(kind, GraphQLNonNull):
            return self._output(kind.of_type, nodes)
        return _or_null([self._output(kind, nodes)])

    def described(self, kind: GraphQLType, place: GraphQLArgument | GraphQLInputField) -> Json:
        """Return the schema of an argument or input field: its type, limits and description."""
        return _described(limited(self.accepts(kind), limits_of(place.ast_node, self._schema)), place.description)

    def _input_options(self, kind: GraphQLType) -> list[Json]:
        if not isinstance(kind, GraphQLList):
            return [self._input(kind)]
        item = kind.of_type.of_type if isinstance(kind.of_type, GraphQLNonNull) else kind.of_type
        if isinstance(item, GraphQLList):
            raise InvalidDocument("a list of lists has no place in an operation")
        return [self._input(item), {"type": "array", "items": self.accepts(kind.of_type)}]

    def _input(self, kind: GraphQLType) -> Json:
        if not isinstance(kind, GraphQLInputObjectType):
            return self._leaf(kind)
        if kind.name in self._open:
            return {"type": "object", "$ref": f"{DEFINITIONS}{kind.name}"}
        self._open.append(kind.name)
        required = [name for name, field in kind.fields.items() if is_required_input_field(field)]
        members = {name: self.described(field.type, field) for name, field in kind.fields.items()}
        self._open.pop()
        return self._named(kind.name, _described(obj(members, required), kind.description))

    def _output(self, kind: GraphQLType, nodes: Sequence[FieldNode]) -> Json:
        match kind:
            case GraphQLList():
                return {"type": "array", "items": self.returns(kind.of_type, nodes)}
            case GraphQLObjectType():
                return self._output_object(kind, nodes)
            case _:
                return self._leaf(kind)

    def _output_object(self, kind: GraphQLObjectType, nodes: Sequence[FieldNode]) -> Json:
        properties: dict[str, Json] = {}
        for key, inner in selected(kind, nodes, self._fragments).items():
            field = kind.fields[inner[0].name.value]
            properties[key] = _described(self.returns(field.type, inner), field.description)
        schema = obj(properties, properties)
        name = _only_fragment(nodes)
        return self._named(name, _described(schema, kind.description)) if name else schema

    def _leaf(self, kind: GraphQLType) -> Json:
        if isinstance(kind, GraphQLEnumType):
            schema: Json = {"type": "string", "enum": list(kind.values)}
            return self._named(kind.name, _described(schema, _words(kind)))
        if str(kind) not in SCALARS:
            raise InvalidDocument(f"the type {kind} has no JSON Schema")
        return dict(SCALARS[str(kind)])

    def _named(self, name: str, schema: Json) -> Json:
        schema["title"] = name
        self.types[name] = schema
        return dict(schema)


def limits_of(node: InputValueDefinitionNode | None, schema: GraphQLSchema) -> Json:
    """Return the limits that `@constraint` sets on an argument or input field, as keywords of JSON Schema."""
    for values in directive_values("constraint", node, schema):
        return {_KEYWORDS[name]: value for name, value in values.items() if value is not None}
    return {}


def limited(schema: Json, limits: Json) -> Json:
    """Set limits on each text, number and list of a schema, and on each item of a list."""
    if not limits:
        return schema
    if "anyOf" in schema:
        return schema | {"anyOf": [limited(option, limits) for option in schema["anyOf"]]}
    if schema["type"] == "array":
        schema = schema | {"items": limited(schema["items"], limits)}
    return schema | {name: limits[name] for name in _LIMITING.get(str(schema["type"]), ()) if name in limits}


def obj(properties: Mapping[str, Json], required: Iterable[str]) -> Json:
    """Return the schema of an object."""
    return {"type": "object", "properties": dict(properties), "required": list(required)}


def selected(
    kind: GraphQLObjectType, nodes: Iterable[SelectingNode], fragments: Fragments
) -> dict[str, list[FieldNode]]:
    """Return the selected fields of nodes of one object, by response key."""
    found: dict[str, list[FieldNode]] = {}
    for parent in nodes:
        for node in _flatten(parent.selection_set, fragments):
            if node.name.value not in kind.fields:
                raise InvalidDocument(f"{node.name.value} cannot be selected in an operation")
            found.setdefault((node.alias or node.name).value, []).append(node)
    return found


def _only_fragment(nodes: Sequence[FieldNode]) -> str | None:
    """Return the name of the fragment if nodes select only that fragment."""
    selections = [one for node in nodes if node.selection_set for one in node.selection_set.selections]
    return selections[0].name.value if len(selections) == 1 and isinstance(selections[0], FragmentSpreadNode) else None


def _words(kind: GraphQLEnumType) -> str:
    values = [f"- `{name}`: {value.description}" for name, value in kind.values.items() if value.description]
    return "\n".join([kind.description, *values] if kind.description else values)


def _described(schema: Json, description: str | None) -> Json:
    return schema | {"description": description} if description else schema


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
