"""What a document may ask for at most."""

from dataclasses import dataclass
from typing import Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLError,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    InlineFragmentNode,
    IntValueNode,
    NamedTypeNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    SelectionNode,
    SelectionSetNode,
    ValidationRule,
    get_named_type,
    get_nullable_type,
    is_list_type,
)
from graphql.validation import ValidationContext

from app.domain.kernel.paging import MAX_FIRST
from app.graphql.errors import QueryTooComplex

MAX_CHARACTERS = 32_768
MAX_TOKENS = 1000
MAX_ALIASES = 30
MAX_BLOCKS = 60
MAX_DEPTH = 10
MAX_ROOT_FIELDS = 10
MAX_COST = 10_000

LIST_SIZE = 5
"""How long a list without pages is taken to be."""


@dataclass(frozen=True, slots=True)
class Weight:
    """How deep a selection is, and how many values it may answer with."""

    depth: int = 0
    cost: int = 0


INTROSPECTION = Weight(1, 3_000)
"""Introspection has a flat weight; how deep it goes is limited by graphql-core."""


class Scale:
    """Weighs the selections of one document; a fragment is weighed once, however often it is spread."""

    def __init__(self, context: ValidationContext) -> None:
        self._context = context
        self._fragments: dict[str, Weight] = {}

    def weigh(self, selections: SelectionSetNode | None, parent: Any) -> Weight:
        """Return the weight of what is selected of a type."""
        if selections is None:
            return Weight()
        parts = [self._weigh(node, parent) for node in selections.selections]
        return Weight(max((part.depth for part in parts), default=0), sum(part.cost for part in parts))

    def _weigh(self, node: SelectionNode, parent: Any) -> Weight:
        match node:
            case FieldNode():
                return self._weigh_field(node, parent)
            case FragmentSpreadNode():
                return self._weigh_fragment(node.name.value)
            case InlineFragmentNode():
                return self.weigh(node.selection_set, self._type(node.type_condition) or parent)
            case _:
                return Weight()

    def _weigh_field(self, node: FieldNode, parent: Any) -> Weight:
        if node.name.value in ("__schema", "__type"):
            return INTROSPECTION
        has_fields = isinstance(parent, GraphQLObjectType | GraphQLInterfaceType)
        field = parent.fields.get(node.name.value) if has_fields else None
        if field is None:
            return Weight(1, 1)
        inner = self.weigh(node.selection_set, get_named_type(field.type))
        return Weight(1 + inner.depth, 1 + _size(node, field) * inner.cost)

    def _weigh_fragment(self, name: str) -> Weight:
        if name not in self._fragments:
            self._fragments[name] = Weight()  # within itself, which another rule refuses, a fragment adds nothing
            if fragment := self._context.get_fragment(name):
                self._fragments[name] = self.weigh(fragment.selection_set, self._type(fragment.type_condition))
        return self._fragments[name]

    def _type(self, condition: NamedTypeNode | None) -> Any:
        return self._context.schema.get_type(condition.name.value) if condition else None


class WithinLimits(ValidationRule):
    """Refuses documents that ask for too much, and mutations that are not one transaction."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self._scale = Scale(context)
        self._aliases = 0
        self._blocks = 0

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        """Count the aliases and the blocks of the document."""
        self._aliases += node.alias is not None
        self._blocks += node.selection_set is not None
        if node.alias and self._aliases == MAX_ALIASES + 1:
            self._refuse(f"A document may have {MAX_ALIASES} aliases at most.", node)
        if node.selection_set and self._blocks == MAX_BLOCKS + 1:
            self._refuse(f"A document may have {MAX_BLOCKS} fields with a selection of their own at most.", node)

    def enter_operation_definition(self, node: OperationDefinitionNode, *_: Any) -> None:
        """Weigh an operation."""
        weight = self._scale.weigh(node.selection_set, self.context.schema.get_root_type(node.operation))
        if weight.depth > MAX_DEPTH:
            self._refuse(f"The document is {weight.depth} levels deep; {MAX_DEPTH} is the most.", node)
        if weight.cost > MAX_COST:
            self._refuse(
                f"The document costs {weight.cost:,}; {MAX_COST:,} is the most. Ask for fewer fields or smaller pages. "
                f"A page whose `first` is a variable counts as {MAX_FIRST}.",
                node,
            )
        self._check_roots(node)

    def _check_roots(self, node: OperationDefinitionNode) -> None:
        count = len(self._roots(node.selection_set, set()))
        if node.operation is OperationType.MUTATION and count > 1:
            self._refuse("A mutation has one root field, since an operation is one transaction. Send each alone.", node)
        if count > MAX_ROOT_FIELDS:
            self._refuse(f"An operation may have {MAX_ROOT_FIELDS} root fields at most; this one has {count}.", node)

    def _roots(self, selections: SelectionSetNode, seen: set[str]) -> set[str]:
        found: set[str] = set()
        for node in selections.selections:
            match node:
                case FieldNode() if node.name.value != "__typename":
                    found.add((node.alias or node.name).value)
                case InlineFragmentNode():
                    found |= self._roots(node.selection_set, seen)
                case FragmentSpreadNode(name=name) if name.value not in seen:
                    seen.add(name.value)
                    fragment = self.context.get_fragment(name.value)
                    found |= self._roots(fragment.selection_set, seen) if fragment else set()
        return found

    def _refuse(self, reason: str, node: Node) -> None:
        self.report_error(GraphQLError(reason, node, original_error=QueryTooComplex(reason=reason)))


LIMITS = (WithinLimits,)
"""To be checked before the rules of GraphQL: these compare every field with every other one of its name."""


def _size(node: FieldNode, field: GraphQLField) -> int:
    """Return how many times what is selected under a field may be answered."""
    if "first" in field.args:
        return _page_size(node, field.args["first"])
    is_list = is_list_type(get_nullable_type(field.type))
    return LIST_SIZE if is_list and node.name.value != "nodes" else 1  # the page's size is counted above its nodes


def _page_size(node: FieldNode, argument: GraphQLArgument) -> int:
    """Return the size of a page; a variable may turn out to be the largest there is, whatever its default."""
    given = [each.value for each in node.arguments or () if each.name.value == "first"]
    if not given:
        return argument.default_value if isinstance(argument.default_value, int) else MAX_FIRST
    return min(max(int(given[0].value), 1), MAX_FIRST) if isinstance(given[0], IntValueNode) else MAX_FIRST
