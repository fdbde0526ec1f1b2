"""Run one operation as one transaction; all surfaces come through here."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from inspect import isawaitable
from typing import Any, cast

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLObjectType,
    OperationDefinitionNode,
    OperationType,
    TypeInfo,
    TypeInfoVisitor,
    Visitor,
    create_source_event_stream,
    execute,
    get_directive_values,
    get_operation_ast,
    parse,
    separate_operations,
    validate,
    visit,
)
from graphql.execution import Executor as PlainExecutor

from app.bootstrap import Services
from app.domain.accounts.scopes import Scope
from app.domain.kernel.errors import InsufficientScope, RateLimited, Unauthenticated
from app.domain.kernel.unit import Actor, Unit
from app.domain.oauth.resources import join
from app.graphql.context import Context
from app.graphql.errors import InvalidGraphql, refusal, translate
from app.graphql.limits import LIMITS, MAX_TOKENS
from app.graphql.plans import Plan, Unplanned, compile_plan
from app.graphql.schema import CORE, contract
from app.operations.document import Operation
from app.telemetry.requests import add_headers

NOBODY = Actor(0, frozenset(), "nobody")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document that was read once: what is wrong with it, or which scopes it needs. `plan` is for ours alone."""

    document: DocumentNode | None
    errors: tuple[GraphQLError, ...]
    kind: OperationType | None = None
    scopes: frozenset[str] = frozenset()
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operation gave. `replayed` says that its idempotency key had been answered before."""

    value: Any
    replayed: bool


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs operations on behalf of actors."""

    services: Services

    async def __call__(self, operation: Operation, variables: Mapping[str, Any], actor: Actor | None) -> Answer:
        """Run the operation of a document of ours, once it is admitted; return its root field's value.

        Raises the `DomainError` of the field.
        """
        result, replayed = await self._run(_read_own(operation.text), dict(variables), actor)
        if result.errors:
            raise refusal(result.errors[0])
        return Answer((result.data or {})[operation.root], replayed)

    async def admit(self, scopes: frozenset[str], actor: Actor | None) -> None:
        """Count a request against the limit of what needs these scopes, and hold the actor to them.

        What is refused counts too. Raises `RateLimited`, `Unauthenticated` or `InsufficientScope`.
        """
        if actor:
            await self._count(scopes, actor)
        allow(scopes, actor)

    async def run(
        self,
        prepared: Prepared,
        variables: dict[str, Any] | None,
        actor: Actor | None,
        name: str | None = None,
        value: object = None,
    ) -> tuple[ExecutionResult, bool]:
        """Run a prepared document in one transaction, committed before the result is returned.

        A subscription is run on each `value` that `subscribe` gave. An error rolls everything back. Raises
        `Unauthenticated`, `InsufficientScope`, `RateLimited` and `InvalidGraphql` before anything runs.
        """
        if value is not None:
            allow(prepared.scopes, actor)
            return await self._run(prepared, variables, actor, name, value)
        await self.admit(prepared.scopes, actor)
        if prepared.kind is OperationType.SUBSCRIPTION:
            raise InvalidGraphql(reason="A subscription is a stream: accept text/event-stream, or use a WebSocket.")
        return await self._run(prepared, variables, actor, name)

    async def _run(
        self,
        prepared: Prepared,
        variables: dict[str, Any] | None,
        actor: Actor | None,
        name: str | None = None,
        value: object = None,
    ) -> tuple[ExecutionResult, bool]:
        context = self._context(actor)
        unit = context.unit
        try:
            result = await _execute(prepared, variables, context, name, value)
        except BaseException:
            await unit.close(commit=False)
            raise
        return await self._finish(unit, result), context.replayed

    async def subscribe(
        self,
        prepared: Prepared,
        variables: dict[str, Any] | None,
        actor: Actor | None,
        name: str | None = None,
        last_event_id: int | None = None,
    ) -> AsyncGenerator[Any, None] | ExecutionResult:
        """Open the stream of values that a subscription is to be run on, or return what is wrong with the document.

        The stream yields None now and then, where there is no value. Raises `Unauthenticated`, `InsufficientScope`,
        `RateLimited`, and the `DomainError` of the field.
        """
        await self.admit(prepared.scopes, actor)
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, list(prepared.errors))
        context = self._context(actor, last_event_id)
        executor = PlainExecutor.build(CORE, prepared.document, None, context, variables, name)
        if isinstance(executor, list):
            return ExecutionResult(None, executor)
        pending = create_source_event_stream(executor)
        stream = await pending if isawaitable(pending) else pending
        if isinstance(stream, ExecutionResult):
            raise refusal((stream.errors or [])[0])
        return cast("AsyncGenerator[Any, None]", stream)

    async def _count(self, scopes: frozenset[str], actor: Actor) -> None:
        """Count a request against its limit, and say in the answer what is left; raise `RateLimited`."""
        limits = self.services.limits
        policy = limits.sends if Scope.messages_send in scopes else limits.requests
        standing = await limits.rates.take(policy, actor)
        if standing:
            add_headers({"ratelimit-policy": policy.header, "ratelimit": standing.header})
            if standing.wait:
                raise RateLimited(seconds=standing.wait)

    def _context(self, actor: Actor | None, last_event_id: int | None = None) -> Context:
        unit = Unit(self.services.database.sessions, actor or NOBODY, self.services.clock)
        return Context(unit, self.services, last_event_id=last_event_id)

    async def _finish(self, unit: Unit, result: ExecutionResult) -> ExecutionResult:
        try:
            await unit.close(commit=not result.errors)
        except Exception as cause:
            return ExecutionResult(None, [GraphQLError("", original_error=translate(cause))])
        if not result.errors:
            for bell in unit.bells:
                self.services.ring(bell)
        return result


def allow(scopes: frozenset[str], actor: Actor | None) -> None:
    """Raise `Unauthenticated` or `InsufficientScope` where an actor lacks what a document needs."""
    if not scopes:
        return
    if actor is None:
        raise Unauthenticated(reason="A key is needed.")
    if missing := sorted(scopes - actor.scopes):
        raise InsufficientScope(scope=missing[0], needed=join(scopes))


def prepare(text: str, name: str | None = None) -> Prepared:
    """Read a document of a client's: parse it, hold it to contract and limits, find out which scopes it needs."""
    try:
        return _read_foreign(text, name)
    except _Faulty as faulty:
        return Prepared(None, faulty.errors)


class _Faulty(Exception):
    """A document that is not run. Raised rather than returned, so that no cache keeps it."""

    def __init__(self, *errors: GraphQLError) -> None:
        super().__init__(*errors)
        self.errors = errors


def _read(text: str, name: str | None = None) -> Prepared:
    try:
        document = parse(text, max_tokens=MAX_TOKENS)
    except GraphQLError as error:
        raise _Faulty(error) from None
    if errors := validate(CORE, document, LIMITS) or validate(CORE, document):
        raise _Faulty(*errors)
    operation = get_operation_ast(document, name)
    kind = operation.operation if operation else None
    return Prepared(document, (), kind, _scopes(_alone(document, operation)) if operation else frozenset())


_read_foreign = lru_cache(maxsize=256)(_read)


@cache  # what strangers send never pushes our own documents out
def _read_own(text: str) -> Prepared:
    prepared = _read(text)
    assert prepared.document
    try:
        return replace(prepared, plan=compile_plan(prepared.document))
    except Unplanned:
        return prepared


def _alone(document: DocumentNode, operation: OperationDefinitionNode) -> DocumentNode:
    """Return what a document says about one of its operations."""
    return separate_operations(document)[operation.name.value if operation.name else ""]


def _scopes(document: DocumentNode) -> frozenset[str]:
    """Return the scopes of every field that a document selects."""
    visitor = _ScopeVisitor(TypeInfo(CORE))
    visit(document, TypeInfoVisitor(visitor.types, visitor))
    return frozenset(visitor.scopes)


class _ScopeVisitor(Visitor):
    def __init__(self, types: TypeInfo) -> None:
        super().__init__()
        self.types = types
        self.scopes: set[str] = set()

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        parent = self.types.get_parent_type()
        if parent and (scope := SCOPES.get((parent.name, node.name.value))):
            self.scopes.add(scope)


def _declared_scopes() -> dict[tuple[str, str], str]:
    """Read off the contract which scope each field needs."""
    known = contract()
    needed = known.get_directive("scope")
    assert needed
    return {
        (name, field_name): values["requires"]
        for name, kind in known.type_map.items()
        if isinstance(kind, GraphQLObjectType)
        for field_name, field in kind.fields.items()
        if field.ast_node and (values := get_directive_values(needed, field.ast_node))
    }


SCOPES = _declared_scopes()


async def _execute(
    prepared: Prepared, variables: dict[str, Any] | None, context: Context, name: str | None, value: object
) -> ExecutionResult:
    if prepared.errors or prepared.document is None:
        return ExecutionResult(None, list(prepared.errors))
    if prepared.plan and (arguments := prepared.plan.bind(variables or {})) is not None:
        return await prepared.plan.run(arguments, context)
    pending = execute(
        CORE,
        prepared.document,
        root_value=value,
        context_value=context,
        variable_values=variables,
        operation_name=name,
        executor_class=PlainExecutor,
    )
    return cast("ExecutionResult", pending if isinstance(pending, ExecutionResult) else await pending)
