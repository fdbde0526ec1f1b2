"""Runs one operation as one transaction, for all surfaces."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import isawaitable
from typing import Any, Protocol, TypeVar, cast

from graphql import ExecutionResult, GraphQLError, OperationType, create_source_event_stream, execute
from graphql.execution import Executor as PlainExecutor

from app.domain.accounts.scopes import Scope
from app.domain.kernel.errors import (
    InsufficientScope,
    MethodNotAllowed,
    RateLimited,
    Unauthenticated,
)
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.oauth.resources import join
from app.graphql.core.context import Context
from app.graphql.core.loading import Pause
from app.graphql.execution.documents import BYTES_PER_UNIT, Documents, Prepared, count_units, measure, plan_of, prepare
from app.graphql.execution.errors import InvalidGraphql, refusal
from app.graphql.execution.parameters import Parameters
from app.graphql.execution.plans import InnerFault
from app.graphql.execution.turns import PausingExecutor, Turns
from app.graphql.schema import CORE
from app.http.anonymous import anonymous_actor, count_anonymous
from app.http.errors import translate
from app.providers.rate_limits import Policy
from app.services import Services
from app.telemetry.requests import add_headers

T = TypeVar("T")

NOBODY = Actor(0, frozenset(), "nobody")


class Runnable(Protocol):
    """The parts of an operation document that running it needs; see `Operation`."""

    @property
    def text(self) -> str:
        """The document that is run."""
        ...

    @property
    def root(self) -> str:
        """The response key of its one root field."""
        ...

    @property
    def arguments(self) -> Mapping[str, str]:
        """The variable of each argument of the root field, and of each member of one: `contacts.ids`, `ids`."""
        ...


@dataclass(slots=True)  # not frozen, as `Actor` is not
class Answer:
    """The result of an operation. `replayed` is true for a repeated idempotency key."""

    value: Any
    replayed: bool


@dataclass(slots=True)  # not frozen, as `Actor` is not
class Run:
    """One run of a prepared document: of the operation `name`, if it has several.

    A subscription runs once for each `value` of `Executor.subscribe`: see `Executor.show`. With `as_text`, objects of
    lists in the result may be fragments of JSON, for a caller that only encodes it. With `is_dry`, its transaction is
    rolled back.
    """

    prepared: Prepared
    variables: dict[str, Any] | None
    actor: Actor | None
    name: str | None = None
    value: object = None
    as_text: bool = False
    is_dry: bool = False


@dataclass(frozen=True, slots=True)
class Executor:
    """Runs operations on behalf of actors."""

    services: Services
    _documents: Documents = field(default_factory=Documents)
    _turns: Turns = field(default_factory=Turns)

    async def __call__(
        self, operation: Runnable, variables: Mapping[str, Any], actor: Actor | None, *, as_text: bool = False
    ) -> Answer:
        """Admit and run an operation document of the service; return the value of its root field; see `Run`.

        Raises `Unauthenticated` or `InsufficientScope` before anything runs, and the `DomainError` of the field.
        """
        prepared = measure(_read_own(operation.text), None, variables)
        return await self._answer(operation, Run(prepared, dict(variables), actor, as_text=as_text))

    async def dry_run(self, operation: Runnable, variables: Mapping[str, Any], actor: Actor) -> None:
        """Run an operation document and roll it back; raise the error that a call would get.

        It is for operations that change nothing outside their own transaction.
        """
        prepared = measure(_read_own(operation.text), None, variables)
        await self._answer(operation, Run(prepared, dict(variables), actor, is_dry=True))

    async def _answer(self, operation: Runnable, run: Run) -> Answer:
        result, replayed = await self._run(run)
        if result.errors:
            refused = refusal(result.errors[0])
            refused.rename(operation.arguments)
            raise refused
        return Answer((result.data or {})[operation.root], replayed)

    async def admit(
        self, scopes: frozenset[str], actor: Actor | None, units: int = 1, *, is_query: bool = False
    ) -> None:
        """Count a request against the limit for these scopes, and check that the actor has them.

        A query sends nothing, and never counts as a send. A refused request counts too. Raises `RateLimited`,
        `Unauthenticated` or `InsufficientScope`.
        """
        if actor:
            limits, is_send = self.services.limits, Scope.messages_send in scopes and not is_query
            await self._count(limits.sends if is_send else limits.requests, actor, units)
        allow(scopes, actor)

    async def count_size(self, size: int, actor: Actor | None) -> None:
        """Count a large request as several, by its size in bytes; raise `RateLimited`."""
        if actor:
            await self._count(self.services.limits.requests, actor, size // BYTES_PER_UNIT, is_told=False)

    async def read(self, asked: Parameters, actor: Actor | None, address: str) -> Prepared:
        """Return the document of a request, after counting its parsing; a cached one costs nothing.

        Running it is counted when it runs, or here for the address if there is no actor. Raises `RateLimited`,
        and `MethodNotAllowed` for a mutation by GET.
        """
        limits, caller = self.services.limits, actor or anonymous_actor(address)
        await self.count_size(asked.size, caller)
        known = self._documents.find(asked.query, asked.operation_name)
        if known is None:
            await self._count(limits.documents, caller, count_units(asked.query), is_told=False)
            known = self._documents.read(asked.query, asked.operation_name)
        known = measure(known, asked.operation_name, asked.variables)
        if asked.is_safe and known.kind is OperationType.MUTATION:
            raise MethodNotAllowed(path="A mutation", method="GET", allowed="POST")
        if actor is None:
            await count_anonymous(limits, address, known.units - 1)
        return known

    async def run(self, run: Run) -> tuple[ExecutionResult, bool]:
        """Run a prepared document in one transaction, committed before the result is returned.

        An error rolls everything back. Raises `Unauthenticated`, `InsufficientScope`, `RateLimited` and
        `InvalidGraphql` before anything runs.
        """
        prepared = run.prepared
        is_query = prepared.kind is OperationType.QUERY
        await self.admit(prepared.scopes, run.actor, prepared.units, is_query=is_query)
        if prepared.kind is OperationType.SUBSCRIPTION:
            raise InvalidGraphql(reason="A subscription is a stream: accept text/event-stream, or use a WebSocket.")
        return await self._run(run)

    async def _run(self, run: Run) -> tuple[ExecutionResult, bool]:
        allow(run.prepared.scopes, run.actor)
        is_query = run.prepared.kind is OperationType.QUERY
        async with self._take_turn(run) as pause:
            context = self._context(run.actor, pause=pause, as_text=run.as_text and is_query)
            try:
                result = await _complete(context.unit, _execute(run, context))
            except InnerFault as fault:
                if not is_query:
                    return ExecutionResult(None, [GraphQLError("", original_error=fault.cause)]), False
                context = self._context(run.actor, pause=pause)
                result = await _complete(context.unit, _execute_unplanned(run, context))
            return await self._finish(context.unit, result, commit=not run.is_dry), context.replayed

    async def show(self, run: Run, values: Sequence[object]) -> list[ExecutionResult]:
        """Run a subscription for values of `subscribe`, in one transaction and with one statement for equal reads.

        After an error each is run in its own transaction. Raises `Unauthenticated` and `InsufficientScope`.
        """
        allow(run.prepared.scopes, run.actor)
        runs = [replace(run, value=value) for value in values]
        async with self._take_turn(run) as pause:
            context = self._context(run.actor, pause=pause)
            work = asyncio.gather(*(_execute(each, context) for each in runs))
            results = await _complete(context.unit, work)
            errors = [error for result in results for error in result.errors or ()]
            closed = await self._finish(context.unit, ExecutionResult(None, errors))
        if closed.errors and len(values) > 1:
            return [(await self.show(run, [value]))[0] for value in values]
        return results if errors or not closed.errors else [closed]

    def _take_turn(self, run: Run) -> AbstractAsyncContextManager[Pause | None]:
        account_id = run.actor.account_id if run.actor else 0
        prepared = run.prepared
        kind = None if _is_send(prepared) else prepared.kind
        return self._turns.take(kind, prepared.units, account_id, asks_others=prepared.asks_others)

    async def subscribe(
        self, run: Run, last_event_id: int | None = None
    ) -> AsyncGenerator[Any, None] | ExecutionResult:
        """Open the stream of values for the runs of a subscription, or return the errors of the document.

        The stream yields None at intervals without a value. Raises `Unauthenticated`, `InsufficientScope`,
        `RateLimited`, and the `DomainError` of the field.
        """
        prepared = run.prepared
        await self.admit(prepared.scopes, run.actor, prepared.units)
        if prepared.errors or prepared.document is None:
            return ExecutionResult(None, list(prepared.errors))
        context = self._context(run.actor, last_event_id)
        executor = PlainExecutor.build(CORE, prepared.document, None, context, run.variables, run.name)
        if isinstance(executor, list):
            return ExecutionResult(None, executor)
        pending = create_source_event_stream(executor)
        stream = await pending if isawaitable(pending) else pending
        if isinstance(stream, ExecutionResult):
            raise refusal((stream.errors or [])[0])
        return cast("AsyncGenerator[Any, None]", stream)

    async def _count(self, policy: Policy, actor: Actor, units: int, *, is_told: bool = True) -> None:
        """Count a request against its limit, and state the remaining requests in the response; raise `RateLimited`."""
        if not units:
            return
        standing = await self.services.limits.rates.take(policy, actor, units)
        if standing and (is_told or standing.wait):
            add_headers({"ratelimit-policy": policy.header, "ratelimit": standing.header})
            if standing.wait:
                raise RateLimited(seconds=standing.wait)

    def _context(
        self,
        actor: Actor | None,
        last_event_id: int | None = None,
        pause: Pause | None = None,
        *,
        as_text: bool = False,
    ) -> Context:
        unit = UnitOfWork(self.services.database.sessions, actor or NOBODY, self.services.clock)
        return Context(unit, self.services, last_event_id=last_event_id, pause=pause, as_text=as_text)

    async def _finish(self, unit: UnitOfWork, result: ExecutionResult, *, commit: bool = True) -> ExecutionResult:
        commit = commit and not result.errors
        try:
            await unit.close(commit=commit)
        except Exception as cause:
            return ExecutionResult(None, [GraphQLError("", original_error=translate(cause))])
        if commit:
            for topic in unit.topics:
                self.services.notify(topic)
        return result


def allow(scopes: frozenset[str], actor: Actor | None) -> None:
    """Raise `Unauthenticated` or `InsufficientScope` if an actor lacks a scope that a document needs."""
    if not scopes:
        return
    if actor is None:
        raise Unauthenticated(reason="A key is needed.")
    if not scopes <= actor.scopes:
        raise InsufficientScope(scope=min(scopes - actor.scopes), needed=join(scopes))


def _is_send(prepared: Prepared) -> bool:
    """Return whether an operation sends: concurrent ones are accepted in one batch, so that they do not wait."""
    return prepared.kind is OperationType.MUTATION and Scope.messages_send in prepared.scopes


@cache  # separate from the cache of clients' documents, which evicts entries
def _read_own(text: str) -> Prepared:
    prepared = prepare(text)
    assert prepared.document
    return replace(prepared, plan=plan_of(prepared.document))


async def _complete(unit: UnitOfWork, work: Awaitable[T]) -> T:
    """Return the result of work in a unit; roll the unit back when it raises or is canceled."""
    try:
        return await work
    except BaseException:
        await unit.close(commit=False)
        raise


async def _execute(run: Run, context: Context) -> ExecutionResult:
    prepared = run.prepared
    if prepared.errors or prepared.document is None:
        return ExecutionResult(None, list(prepared.errors))
    if prepared.plan and (arguments := prepared.plan.bind(run.variables or {})) is not None:
        context.unit.reads_alone = True  # not for graphql-core, which cancels the siblings of a failed field
        return await prepared.plan.run(arguments, context)
    return await _execute_unplanned(run, context)


async def _execute_unplanned(run: Run, context: Context) -> ExecutionResult:
    """Run a document by graphql-core, which walks its syntax tree, and states the place of each error."""
    prepared = run.prepared
    assert prepared.document
    pending = execute(
        CORE,
        prepared.document,
        root_value=run.value,
        context_value=context,
        variable_values=run.variables,
        operation_name=run.name,
        executor_class=PausingExecutor if context.pause else PlainExecutor,
    )
    return pending if isinstance(pending, ExecutionResult) else await pending
