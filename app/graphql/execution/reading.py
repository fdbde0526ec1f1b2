"""The reading of the records of a list: of the selected attributes, or of one JSON text with the records they link."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphql import (
    FieldNode,
    GraphQLBoolean,
    GraphQLField,
    GraphQLInt,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLString,
    get_named_type,
    get_nullable_type,
)
from strawberry.schema.schema_converter import CustomGraphQLEnumType, GraphQLCoreConverter
from strawberry.types.field import StrawberryField

from app.domain.kernel.json_texts import Kind, Link, Member, Shape
from app.domain.kernel.paging import DEFAULT_SIZE, MAX_SIZE
from app.domain.kernel.relations import AnyRelation
from app.graphql.core.context import Reading
from app.graphql.core.loading import attributes_of, link_of
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

NODES = "nodes"

Selection = Mapping[str, Sequence[FieldNode]]
"""The nodes of each selected field, by its key in the response."""


def read_of(record: GraphQLObjectType, selections: Sequence[Selection], shapes: "Shapes") -> Reading:
    """Return the reading for selections of the records of one list; with a single one, it may be JSON."""
    names = {nodes[0].name.value for selection in selections for nodes in selection.values()}
    read = [_attributes_of(record, name) for name in names]
    columns = frozenset[str]().union(*(each for each in read if each is not None))
    shape = shapes.shape_of(record, selections[0]) if len(selections) == 1 else None
    return Reading(None if None in read else columns, shape)


def bind(reading: Reading, arguments: Sequence[Mapping[str, Any]]) -> Reading:
    """Return the reading with the sizes of linked lists, which are among the arguments of an operation's fields."""
    return reading._replace(shape=_sized(reading.shape, arguments)) if reading.shape else reading


def _sized(shape: Shape, arguments: Sequence[Mapping[str, Any]]) -> Shape | None:
    members = [_with_size(each, arguments) if isinstance(each, Link) else each for each in shape]
    return tuple(each for each in members if each) if all(members) else None


def _with_size(link: Link, arguments: Sequence[Mapping[str, Any]]) -> Link | None:
    """Return a link with its size; None for a list that does not begin with the first record, or has a wrong size."""
    shape = _sized(link.shape, arguments)
    given: Mapping[str, Any] = {} if link.place is None else arguments[link.place]
    size = given.get("first")
    size = DEFAULT_SIZE if size is None else size
    fits = given.keys() <= {"first"} and 1 <= size <= MAX_SIZE
    return link._replace(shape=shape, size=size) if shape and fits else None


def _attributes_of(record: GraphQLObjectType, name: str) -> frozenset[str] | None:
    """Return the attributes that a field reads of its object; None if it may read any."""
    if name == TYPENAME:
        return frozenset()
    definition = definition_of(record.fields[name])
    return attributes_of(function_of(definition)) if definition.base_resolver else frozenset([attribute_of(definition)])


@dataclass(frozen=True, slots=True)
class Shapes:
    """Finds the JSON of records, by what their fields `select`; `places` are the numbers of nodes with arguments."""

    select: Callable[[GraphQLObjectType, Sequence[FieldNode]], Selection]
    places: Mapping[FieldNode, int]

    def shape_of(self, record: GraphQLObjectType, selection: Selection) -> Shape | None:
        """Return the members that show the fields of a record; None if a resolver computes one."""
        members = [self._member_of(record, key, nodes) for key, nodes in selection.items()]
        return tuple(each for each in members if each) if all(members) else None

    def _member_of(self, record: GraphQLObjectType, key: str, nodes: Sequence[FieldNode]) -> Member | Link | None:
        name = nodes[0].name.value
        if name == TYPENAME:
            return Member(key, record.name, Kind.constant, is_nullable=False)
        described = record.fields[name]
        definition, kind = definition_of(described), _kind_of(described.type)
        if definition.base_resolver:
            link = link_of(function_of(definition))
            return self._link(key, described, nodes, *link) if link else None
        if kind is None:
            return None
        return Member(key, attribute_of(definition), kind, not isinstance(described.type, GraphQLNonNull))

    def _link(
        self, key: str, described: GraphQLField, nodes: Sequence[FieldNode], relation: AnyRelation, attribute: str
    ) -> Link | None:
        """Return the member that shows linked records: one that may be missing, or the nodes alone of a list."""
        record = cast("GraphQLObjectType", get_named_type(described.type))
        chosen = self.select(record, nodes)
        if relation.order is None:
            shape = None if isinstance(described.type, GraphQLNonNull) else self.shape_of(record, chosen)
            return Link(key, relation, attribute, shape) if shape else None
        [(listed, inner), *others] = chosen.items()
        if others or inner[0].name.value != NODES:
            return None
        record = cast("GraphQLObjectType", get_named_type(record.fields[NODES].type))
        shape = self.shape_of(record, self.select(record, inner))
        return Link(key, relation, attribute, shape, listed, self.places.get(nodes[0])) if shape else None


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


def attribute_of(definition: StrawberryField) -> str:
    """Return the attribute that a field without a resolver shows."""
    assert definition.python_name
    return definition.python_name


def function_of(definition: StrawberryField) -> Callable[..., Any]:
    """Return the function that resolves a field."""
    assert definition.base_resolver
    return cast("Callable[..., Any]", definition.base_resolver.wrapped_func)
