"""The reading of the records of a list: of the selected attributes, or of one JSON text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from graphql import (
    GraphQLBoolean,
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
    get_nullable_type,
)
from strawberry.schema.schema_converter import CustomGraphQLEnumType, GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from app.domain.kernel.json_texts import Kind, Member, Shape
from app.graphql.core.context import Reading
from app.graphql.core.loading import attributes_of
from app.graphql.schema import CORE

TYPENAME = "__typename"

KINDS: Mapping[Any, Kind] = {
    GraphQLString: Kind.text,
    GraphQLBoolean: Kind.boolean,
    GraphQLInt: Kind.small_number,
    CORE.get_type("BigInt"): Kind.number,
    CORE.get_type("DateTime"): Kind.instant,
}
"""The scalars that PostgreSQL writes as the contract does."""

Selection = Mapping[str, str]
"""The name of each selected field, by its key in the response."""


def read_of(record: GraphQLObjectType, selections: Sequence[Selection]) -> Reading:
    """Return the reading for selections of the records of one list; with a single one, it may be JSON."""
    names = {name for selection in selections for name in selection.values()}
    read = [_attributes_of(record, name) for name in names]
    columns = frozenset[str]().union(*(each for each in read if each is not None))
    shape = _shape_of(record, selections[0]) if len(selections) == 1 else None
    return Reading(None if None in read else columns, shape)


def _attributes_of(record: GraphQLObjectType, name: str) -> frozenset[str] | None:
    """Return the attributes that a field reads of its object; None if it may read any."""
    if name == TYPENAME:
        return frozenset()
    definition = definition_of(record.fields[name])
    return attributes_of(function_of(definition)) if definition.base_resolver else frozenset([definition.python_name])


def _shape_of(record: GraphQLObjectType, selection: Selection) -> Shape | None:
    members = [_member_of(record, key, name) for key, name in selection.items()]
    return tuple(each for each in members if each) if all(members) else None


def _member_of(record: GraphQLObjectType, key: str, name: str) -> Member | None:
    """Return the member that shows a field; None for one that a resolver computes."""
    if name == TYPENAME:
        return Member(key, record.name, Kind.constant, is_nullable=False)
    described = record.fields[name]
    definition, kind = definition_of(described), _kind_of(described.type)
    if definition.base_resolver or kind is None:
        return None
    return Member(key, definition.python_name, kind, not isinstance(described.type, GraphQLNonNull))


def _kind_of(type: GraphQLOutputType) -> Kind | None:
    kind = get_nullable_type(type)
    if isinstance(kind, GraphQLList):
        return Kind.texts if get_nullable_type(kind.of_type) is GraphQLString else None
    if isinstance(kind, CustomGraphQLEnumType):
        return Kind.text if all(each.value == name for name, each in kind.values.items()) else None
    return KINDS.get(kind)


def definition_of(described: GraphQLField) -> StrawberryField:
    """Return Strawberry's definition of a field."""
    return described.extensions[GraphQLCoreConverter.DEFINITION_BACKREF]


def function_of(definition: StrawberryField) -> Callable[..., Any]:
    """Return the function that resolves a field."""
    assert definition.base_resolver
    return cast("Callable[..., Any]", definition.base_resolver.wrapped_func)
