"""Parses and validates client documents, finds the scopes they require, and caches the latest."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from graphql import (
    ArgumentNode,
    DocumentNode,
    FieldNode,
    FloatValueNode,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    IntValueNode,
    Node,
    OperationDefinitionNode,
    OperationType,
    StringValueNode,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    Visitor,
    get_operation_ast,
    parse,
    separate_operations,
    validate,
    visit,
)
from graphql.validation import validation_context
from graphql.validation.rules import overlapping_fields_can_be_merged
from graphql.validation.validate import ValidationAbortedError

from app.domain.kernel.errors import InvalidInput
from app.graphql.core.directives import asks_another_service, scope_of
from app.graphql.execution.compiling import Unplanned, compile_plan
from app.graphql.execution.errors import QueryTooComplex
from app.graphql.execution.literals import name_fields
from app.graphql.execution.plans import Plan
from app.graphql.execution.query_limits import (
    INTROSPECTING,
    MAX_COST,
    MAX_TOKENS,
    Scale,
    check_limits,
    default_sizes,
    fragments_of,
    too_costly,
)
from app.graphql.schema import CORE

MAX_ERRORS = 5
"""The maximum number of errors of a document: each suggests similar names, which is slow."""

overlapping_fields_can_be_merged.MAX_COMPLEXITY_BUDGET = 5_000  # pyrefly: ignore[bad-assignment]
validation_context.MAX_FRAGMENT_WORK = 5_000  # pyrefly: ignore[bad-assignment]
# Both limit quadratic work: comparisons of pairs of fields, and fragments in each operation.

TOO_TANGLED = "The document selects the same fields too often. Select each once, and share fragments less."

MAX_KEPT_TOKENS = 25_000
"""The maximum number of tokens of all cached documents; a token takes about 1,200 bytes, with its plan."""

CHARACTERS_PER_TOKEN = 100
"""The number of characters of a document's text that take as much memory as a token."""

TOKENS_PER_UNIT = 20
CHARACTERS_PER_UNIT = 1024
BYTES_PER_UNIT = 4096
COST_PER_UNIT = 100

MAX_DIGITS = 40

_LONG_NUMBER = re.compile(rf"[\d.]{{{MAX_DIGITS}}}")
_TOKEN = re.compile(r'''"""(?>(?:\\"""|[^"]|"(?!""))*)(?:""")?|"(?>(?:\\.|[^"\\\n\r])*)"?|\#[^\n\r]*|\w+|[^\s\w,]''')
"""A token or part of one, or a comment. An unterminated string is one too, so that no character is read twice."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A parsed document: its errors, or the scopes that it needs, and its plan if it has one.

    `units` is the cost of running it in the limit of requests; with `has_sizes`, the cost depends on its variables. A
    query that `asks_others` may wait for another service.
    """

    document: DocumentNode | None
    errors: tuple[GraphQLError, ...]
    kind: OperationType | None = None
    scopes: frozenset[str] = frozenset()
    plan: Plan | None = None
    units: int = 1
    is_introspective: bool = False
    has_sizes: bool = False
    asks_others: bool = False


@dataclass(slots=True)
class Documents:
    """A cache of the last documents, by their text and operation name; invalid ones are not stored."""

    _kept: dict[tuple[str, str | None], Prepared] = field(default_factory=dict)
    _tokens: int = 0

    def find(self, text: str, name: str | None) -> Prepared | None:
        """Return a cached document."""
        key = (text, name)
        if (known := self._kept.pop(key, None)) is not None:
            self._kept[key] = known
        return known

    def read(self, text: str, name: str | None = None) -> Prepared:
        """Parse a document and store it."""
        prepared = prepare(text, name)
        if not prepared.errors and (text, name) not in self._kept:
            self._kept[text, name] = prepared
            self._tokens += _room(text, name)
            while self._tokens > MAX_KEPT_TOKENS:
                oldest = next(iter(self._kept))
                del self._kept[oldest]
                self._tokens -= _room(*oldest)
        return prepared


def _room(text: str, name: str | None) -> int:
    """Return the size of a document in tokens."""
    return count_tokens(text) + len(text + (name or "")) // CHARACTERS_PER_TOKEN


def count_tokens(text: str) -> int:
    """Return an upper bound of a document's number of tokens; a comment counts as one."""
    return len(_TOKEN.findall(text))


def count_units(text: str) -> int:
    """Return the cost of parsing a document in the limit of requests."""
    return min(count_tokens(text), MAX_TOKENS) // TOKENS_PER_UNIT + len(text) // CHARACTERS_PER_UNIT


def prepare(text: str, name: str | None = None) -> Prepared:
    """Parse a document, check its limits and validate it against the contract, and find the scopes that it needs."""
    try:
        document = parse(text, max_tokens=MAX_TOKENS)
    except GraphQLError as error:
        return Prepared(None, (error,))
    if errors := check_limits(CORE, document) or _find_unusable(text, document) or _validate(document):
        name_fields(document, errors)
        return Prepared(None, tuple(errors))
    operation = get_operation_ast(document, name)
    return _describe(document, operation) if operation else Prepared(document, ())


def _validate(document: DocumentNode) -> Sequence[GraphQLError]:
    errors = validate(CORE, document, max_errors=MAX_ERRORS)
    if errors and isinstance(errors[-1], ValidationAbortedError):
        del errors[-1]
        return errors or [GraphQLError(TOO_TANGLED, original_error=QueryTooComplex(reason=TOO_TANGLED))]
    return errors


def _find_unusable(text: str, document: DocumentNode) -> Sequence[GraphQLError]:
    """Return the arguments with a number too long for Python, or with U+0000, which PostgreSQL cannot store."""
    if "\\u" not in text and not _LONG_NUMBER.search(text):
        return []
    visitor = _ValueVisitor()
    visit(document, visitor)
    return visitor.errors


class _ValueVisitor(Visitor):
    """Visits each number and text, with the argument or variable that contains it."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: list[GraphQLError] = []
        self._name = ""

    def enter_argument(self, node: ArgumentNode, *_: Any) -> None:
        self._name = node.name.value

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> None:
        self._name = node.variable.name.value

    def enter_int_value(self, node: IntValueNode, *_: Any) -> None:
        self._check_digits(node)

    def enter_float_value(self, node: FloatValueNode, *_: Any) -> None:
        self._check_digits(node)

    def enter_string_value(self, node: StringValueNode, *_: Any) -> None:
        if "\0" in node.value:
            self._refuse(f"{self._name} must not hold the character U+0000.", node)

    def _check_digits(self, node: IntValueNode | FloatValueNode) -> None:
        if len(node.value) > MAX_DIGITS:
            self._refuse(f"{self._name} must be a number of at most {MAX_DIGITS} digits.", node)

    def _refuse(self, reason: str, node: Node) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append(GraphQLError(reason, node, original_error=InvalidInput(reason=reason, field=self._name)))


def _describe(document: DocumentNode, operation: OperationDefinitionNode) -> Prepared:
    alone = separate_operations(document)[operation.name.value if operation.name else ""]
    visitor = FieldVisitor.walk(alone, CORE, SCOPES)
    scale = Scale(CORE, fragments_of(document))
    cost = scale.weigh(operation.selection_set, CORE.get_root_type(operation.operation)).cost
    return Prepared(
        document,
        (),
        operation.operation,
        frozenset(visitor.scopes),
        plan_of(alone) if operation.operation is OperationType.QUERY else None,
        units=1 + cost // COST_PER_UNIT,
        is_introspective=visitor.is_introspective,
        has_sizes=scale.has_sizes,
        asks_others=visitor.asks_others,
    )


def plan_of(document: DocumentNode) -> Plan | None:
    """Return the plan of a document of one operation, if it has one."""
    try:
        return compile_plan(document)
    except Unplanned:
        return None


def measure(prepared: Prepared, name: str | None, variables: Mapping[str, Any] | None) -> Prepared:
    """Return a document with its cost for these variables, or with the error that it is too expensive."""
    document = prepared.document
    operation = get_operation_ast(document, name) if document and prepared.has_sizes else None
    if document is None or operation is None:
        return prepared
    scale = Scale(CORE, fragments_of(document), default_sizes(operation) | dict(variables or {}))
    cost = scale.weigh(operation.selection_set, CORE.get_root_type(operation.operation)).cost
    if cost <= MAX_COST:
        return replace(prepared, units=1 + cost // COST_PER_UNIT)
    reason = too_costly(cost)
    return Prepared(None, (GraphQLError(reason, operation, original_error=QueryTooComplex(reason=reason)),))


class FieldVisitor(Visitor):
    """Collects the scopes that the fields of an operation need, of `needed` by type and field.

    It `asks_others` if one of the fields is marked with `ASKS_ANOTHER_SERVICE`.
    """

    def __init__(self, types: TypeInfo, needed: Mapping[tuple[str, str], str]) -> None:
        super().__init__()
        self.types = types
        self.scopes: set[str] = set()
        self.is_introspective = False
        self.asks_others = False
        self._needed = needed

    @classmethod
    def walk(cls, document: DocumentNode, schema: GraphQLSchema, needed: Mapping[tuple[str, str], str]) -> Self:
        """Visit all fields of a document of one operation."""
        visitor = cls(TypeInfo(schema), needed)
        visit(document, TypeInfoVisitor(visitor.types, visitor))
        return visitor

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        """Record the scope that a field needs, on its type or interface."""
        parent = self.types.get_parent_type()
        if parent and (scope := self._needed.get((parent.name, node.name.value))):
            self.scopes.add(scope)
        self.is_introspective |= node.name.value in INTROSPECTING
        self.asks_others |= parent is ROOT and node.name.value in ASKING


def declared_scopes(schema: GraphQLSchema) -> dict[tuple[str, str], str]:
    """Return the scope that each field of an object type or interface needs.

    Raises `ValueError` if an interface and a type that implements it differ, because a query may select either.
    """
    kinds = [kind for kind in schema.type_map.values() if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)]
    scopes = {
        (kind.name, name): scope
        for kind in kinds
        for name, described in kind.fields.items()
        if (scope := scope_of(described))
    }
    for kind, abstract in [(each, abstract) for each in kinds for abstract in each.interfaces]:
        for name in abstract.fields:
            if scopes.get((kind.name, name)) != scopes.get((abstract.name, name)):
                raise ValueError(f"{kind.name}.{name} and {abstract.name}.{name} need different scopes")
    return scopes


SCOPES = declared_scopes(CORE)
ROOT = CORE.query_type
assert ROOT
ASKING = {name for name, field in ROOT.fields.items() if asks_another_service(field)}
