"""Limits of documents: length, depth, aliases and cost."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    NamedTypeNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from app.domain.kernel.paging import DEFAULT_SIZE, MAX_SIZE
from app.graphql.execution.errors import QueryTooComplex

MAX_CHARACTERS = 32_768
MAX_TOKENS = 1000
MAX_ALIASES = 30
MAX_BLOCKS = 60
MAX_DEPTH = 10
MAX_NESTING = 60
MAX_ROOT_FIELDS = 10
MAX_COST = 10_000

LIST_SIZE = 5
"""The assumed length of a list without pages."""

PAGED = ("nodes", "edges")
"""The lists in a connection, whose size is counted at the connection."""


@dataclass(frozen=True, slots=True)
class Weight:
    """The depth of a selection, and the number of values in its answer."""

    depth: int = 0
    cost: int = 0


INTROSPECTION = Weight(1, 9_000)
"""Introspection has a flat weight, and no aliases; graphql-core limits its depth."""

INTROSPECTING = ("__schema", "__type")


def check_limits(schema: GraphQLSchema, document: DocumentNode) -> list[GraphQLError]:
    """Return the limits that a document exceeds. It takes one walk, so it comes before the rules of GraphQL."""
    return [
        GraphQLError(reason, node, original_error=QueryTooComplex(reason=reason))
        for reason, node in _excesses(schema, document)
    ]


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    """Return the fragments of a document by their name."""
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def _excesses(schema: GraphQLSchema, document: DocumentNode) -> Iterator[tuple[str, Node]]:
    """Yield the exceeded limits with their places. Excessive depth ends the recursive walk."""
    yield from _count(document)
    scale = Scale(schema, fragments_of(document))
    try:
        for node in document.definitions:
            if isinstance(node, OperationDefinitionNode):
                yield from _weigh(scale, node)
    except _TooNested as fault:
        yield f"The document nests selections more than {MAX_NESTING} levels deep.", fault.node


def _count(document: DocumentNode) -> Iterator[tuple[str, Node]]:
    """Count the aliases and the blocks of a document."""
    aliases = [node for node in _fields(document) if node.alias]
    blocks = [node for node in _fields(document) if node.selection_set]
    if len(aliases) > MAX_ALIASES:
        yield f"A document may have {MAX_ALIASES} aliases at most.", aliases[MAX_ALIASES]
    if len(blocks) > MAX_BLOCKS:
        yield f"A document may have {MAX_BLOCKS} fields with a selection of their own at most.", blocks[MAX_BLOCKS]


def _fields(document: DocumentNode) -> Iterator[FieldNode]:
    """Yield every field of a document once, at any depth."""
    definitions = reversed(document.definitions)
    waiting: list[Any] = [node for node in definitions if getattr(node, "selection_set", None)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, FieldNode):
            yield node
        if node.selection_set:
            waiting += [each for each in reversed(node.selection_set.selections) if hasattr(each, "selection_set")]


def _weigh(scale: "Scale", node: OperationDefinitionNode) -> Iterator[tuple[str, Node]]:
    weight = scale.weigh(node.selection_set, scale.schema.get_root_type(node.operation))
    if weight.depth > MAX_DEPTH:
        yield f"The document is {weight.depth} levels deep; {MAX_DEPTH} is the most.", node
    if weight.cost > MAX_COST:
        yield too_costly(weight.cost), node
    yield from _check_roots(scale, node)


def too_costly(cost: int) -> str:
    """Return the error of a document that costs more than `MAX_COST`."""
    return f"The document costs {cost:,}; {MAX_COST:,} is the most. Ask for fewer fields or smaller pages."


def default_sizes(operation: OperationDefinitionNode) -> dict[str, Any]:
    """Return the variables of an operation that have a whole number as their default."""
    return {
        each.variable.name.value: int(each.default_value.value)
        for each in operation.variable_definitions or ()
        if isinstance(each.default_value, IntValueNode)
    }


def _check_roots(scale: "Scale", node: OperationDefinitionNode) -> Iterator[tuple[str, Node]]:
    roots = list(_reach(scale, node.selection_set, set()))
    keys = {(field.alias or field.name).value for field in roots if field.name.value != "__typename"}
    if node.operation is OperationType.MUTATION and len(keys) > 1:
        yield "A mutation has one root field, since an operation is one transaction. Send each alone.", node
    if len(keys) > MAX_ROOT_FIELDS:
        yield f"An operation may have {MAX_ROOT_FIELDS} root fields at most; this one has {len(keys)}.", node
    for root in roots:
        if root.name.value in INTROSPECTING and root.selection_set and scale.has_aliases(root.selection_set):
            yield "Introspection takes no aliases.", root


def _reach(scale: "Scale", selections: SelectionSetNode, seen: set[str]) -> Iterator[FieldNode]:
    """Yield the fields of one level, those in fragments included."""
    for node in selections.selections:
        match node:
            case FieldNode():
                yield node
            case InlineFragmentNode():
                yield from _reach(scale, node.selection_set, seen)
            case FragmentSpreadNode(name=name) if name.value not in seen:
                seen.add(name.value)
                if fragment := scale.fragments.get(name.value):
                    yield from _reach(scale, fragment.selection_set, seen)


class _TooNested(Exception):
    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.node = node


class Scale:
    """Weighs the selections of one document; a fragment is weighed once, however often it is spread.

    Without variables, a page whose size is one counts once, and `has_sizes` tells that there is such a page.
    """

    def __init__(
        self,
        schema: GraphQLSchema,
        fragments: dict[str, FragmentDefinitionNode],
        variables: Mapping[str, Any] | None = None,
    ) -> None:
        self.schema = schema
        self.fragments = fragments
        self.has_sizes = False
        self._variables = variables
        self._weights: dict[str, Weight] = {}
        self._nesting = 0

    def weigh(self, selections: SelectionSetNode | None, parent: GraphQLNamedType | None) -> Weight:
        """Return the weight of a selection of a type."""
        if selections is None:
            return Weight()
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            raise _TooNested(selections)
        parts = [self._weigh(node, parent) for node in selections.selections]
        self._nesting -= 1
        return Weight(max((part.depth for part in parts), default=0), sum(part.cost for part in parts))

    def has_aliases(self, selections: SelectionSetNode) -> bool:
        """Return whether a selection has aliases at any depth."""
        waiting, seen = [selections], set[str]()
        while waiting:
            for node in waiting.pop().selections:
                if isinstance(node, FieldNode) and node.alias:
                    return True
                if isinstance(node, FragmentSpreadNode):
                    name = node.name.value
                    if name in self.fragments and name not in seen:
                        waiting.append(self.fragments[name].selection_set)
                    seen.add(name)
                elif inner := getattr(node, "selection_set", None):
                    waiting.append(inner)
        return False

    def _weigh(self, node: SelectionNode, parent: GraphQLNamedType | None) -> Weight:
        match node:
            case FieldNode():
                return self._weigh_field(node, parent)
            case FragmentSpreadNode():
                return self._weigh_fragment(node.name.value)
            case InlineFragmentNode():
                return self.weigh(node.selection_set, self._type(node.type_condition) or parent)
            case _:
                return Weight()

    def _weigh_field(self, node: FieldNode, parent: GraphQLNamedType | None) -> Weight:
        if node.name.value in INTROSPECTING:
            return INTROSPECTION
        has_fields = isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
        field = parent.fields.get(node.name.value) if has_fields else None
        if field is None:
            return Weight(1, 1)
        inner = self.weigh(node.selection_set, get_named_type(field.type))
        return Weight(1 + inner.depth, 1 + self._size(node, field) * inner.cost)

    def _weigh_fragment(self, name: str) -> Weight:
        if name not in self._weights:
            self._weights[name] = Weight()  # a recursive fragment, which another rule refuses, adds nothing
            if fragment := self.fragments.get(name):
                self._weights[name] = self.weigh(fragment.selection_set, self._type(fragment.type_condition))
        return self._weights[name]

    def _type(self, condition: NamedTypeNode | None) -> Any:
        return self.schema.get_type(condition.name.value) if condition else None

    def _size(self, node: FieldNode, field: GraphQLField) -> int:
        """Return the maximum number of results of a field's selection."""
        if "first" in field.args:
            return self._page_size(node)
        is_list = is_list_type(get_nullable_type(field.type))
        return LIST_SIZE if is_list and node.name.value not in PAGED else 1

    def _page_size(self, node: FieldNode) -> int:
        given = [each.value for each in node.arguments or () if each.name.value in ("first", "last")]
        sizes = [size for each in given if (size := self._number(each)) is not None]
        return max(sizes, default=DEFAULT_SIZE)

    def _number(self, node: Node) -> int | None:
        """Return a size within the limits of one; None for null."""
        if isinstance(node, VariableNode):
            self.has_sizes = True
            given = 1 if self._variables is None else self._variables.get(node.name.value)
            return _clamped(given) if isinstance(given, int | float) else None
        if not isinstance(node, IntValueNode):
            return None
        return _clamped(int(node.value[: len(str(MAX_SIZE)) + 1]))  # the rest can only make it larger


def _clamped(size: float) -> int:
    return int(min(max(size, 1), MAX_SIZE))
