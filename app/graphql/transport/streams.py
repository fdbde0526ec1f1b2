"""Runs operations with streams of results, for WebSockets and server-sent events."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from graphql import ExecutionResult, OperationType

from app.domain.kernel.errors import DomainError, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.documents import Prepared
from app.graphql.execution.errors import extensions, find_cause
from app.graphql.execution.execute import Executor, Run
from app.graphql.execution.parameters import Parameters
from app.http.errors import translate
from app.http.identity import request_id
from app.jobs.live import Stopping

Renew = Callable[[], Awaitable[Actor | None]]
"""Returns the present actor; raises `Unauthenticated` when the key is no longer valid."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One result of an operation in GraphQL's form; `id` is the position from which a client can resume."""

    result: dict[str, Any]
    id: int | None = None


class Refused(Exception):
    """The operation ends with errors; `cause` is the first. `must_leave` is true if the client's key is not valid."""

    def __init__(self, errors: list[dict[str, Any]], cause: DomainError, *, must_leave: bool = False) -> None:
        super().__init__(errors)
        self.errors = errors
        self.cause = cause
        self.must_leave = must_leave


class Streams:
    """Runs operations result by result."""

    def __init__(self, executor: Executor, docs_url: str) -> None:
        self._executor = executor
        self._docs_url = docs_url

    async def open(self, asked: Parameters, renew: Renew, address: str) -> AsyncGenerator[Piece | None, None]:
        """Begin an operation; return its result, or those of a subscription. None marks a pause without results.

        The client's key is checked again before each. Raises `Refused` if the operation does not begin; so do the
        results, and `Stopping` when the process stops.
        """
        pieces = self._run(asked, renew, address)
        await anext(pieces)
        return pieces

    async def _run(self, asked: Parameters, renew: Renew, address: str) -> AsyncGenerator[Piece | None, None]:
        """Yield None once the operation has begun, then its results."""
        try:
            actor = await renew()
            prepared = await self._executor.read(asked, actor, address)
            is_subscription = prepared.kind is OperationType.SUBSCRIPTION
            pieces = (self._follow if is_subscription else self._answer)(prepared, asked, actor, renew)
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        except (Refused, Stopping):
            raise
        except Exception as cause:
            error = translate(cause)
            raise Refused([self.format_error(error)], error, must_leave=isinstance(error, Unauthenticated)) from cause

    async def _answer(
        self, prepared: Prepared, asked: Parameters, actor: Actor | None, _: Renew
    ) -> AsyncGenerator[Piece | None, None]:
        result, _replayed = await self._executor.run(Run(prepared, asked.variables, actor, asked.operation_name))
        written = self._write(result)
        yield None
        yield Piece(written)

    async def _follow(
        self, prepared: Prepared, asked: Parameters, actor: Actor | None, renew: Renew
    ) -> AsyncGenerator[Piece | None, None]:
        run = Run(prepared, asked.variables, actor, asked.operation_name)
        values = await self._executor.subscribe(run, asked.last_event_id)
        if isinstance(values, ExecutionResult):
            raise self._refused(values)
        async with aclosing(values):
            yield None
            async for together in values:
                actor = await renew()
                if together is None:
                    yield None
                    continue
                results = await self._executor.show(replace(run, actor=actor), together)
                for value, result in zip(together, results, strict=True):
                    await renew()
                    yield Piece(self._write(result), value.id)

    def _write(self, result: ExecutionResult) -> dict[str, Any]:
        """Return a result in GraphQL's form; raise `Refused` if the operation did not begin or did not commit."""
        if not result.errors:
            return {"data": result.data}
        refused = self._refused(result)
        if result.data is None and not any(error.path for error in result.errors):
            raise refused
        return {"errors": refused.errors, "data": result.data}

    def _refused(self, result: ExecutionResult) -> Refused:
        causes = [find_cause(error) for error in result.errors or ()]
        told = zip(result.errors or (), causes, strict=True)
        return Refused([{**error.formatted, **self.format_error(cause)} for error, cause in told], causes[0])

    def format_error(self, error: DomainError) -> dict[str, Any]:
        """Return an error in the form for clients."""
        return {"message": str(error), "extensions": extensions(error, self._docs_url, request_id())}
