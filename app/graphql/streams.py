"""Operations whose answers are streams, whatever carries them: a WebSocket or server-sent events."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from graphql import ExecutionResult, OperationType

from app.domain.kernel.errors import DomainError, Unauthenticated
from app.domain.kernel.unit import Actor
from app.graphql.errors import extensions, find_cause, translate
from app.graphql.execute import Executor, Prepared, prepare
from app.graphql.identity import request_id
from app.graphql.requests import Parameters
from app.jobs.live import Stopping

Renew = Callable[[], Awaitable[Actor | None]]
"""Tells who asks, as it is now; raises `Unauthenticated` once the key is not good any more."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One result of an operation, as GraphQL writes it; `id` is where a client that loses the stream can go on."""

    result: dict[str, Any]
    id: int | None = None


class Refused(Exception):
    """The operation ends with errors. `must_leave` says that the client's key is not good, or not any more."""

    def __init__(self, errors: list[dict[str, Any]], *, must_leave: bool = False) -> None:
        super().__init__(errors)
        self.errors = errors
        self.must_leave = must_leave


class Streams:
    """Runs operations piece by piece."""

    def __init__(self, executor: Executor, docs_url: str) -> None:
        self._executor = executor
        self._docs_url = docs_url

    async def run(self, asked: Parameters, renew: Renew) -> AsyncGenerator[Piece | None, None]:
        """Yield the results of an operation: one, or those of a subscription; None says that all is well and quiet.

        Who asks is looked at again before each. Raises `Refused`, and `Stopping` when the process stops.
        """
        prepared = prepare(asked.query, asked.operation_name)
        is_subscription = prepared.kind is OperationType.SUBSCRIPTION
        pieces = (self._follow if is_subscription else self._answer)(prepared, asked, renew)
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece
        except (Refused, Stopping):
            raise
        except Exception as cause:
            error = translate(cause)
            raise Refused([self.tell(error)], must_leave=isinstance(error, Unauthenticated)) from cause

    async def _answer(self, prepared: Prepared, asked: Parameters, renew: Renew) -> AsyncGenerator[Piece, None]:
        result, _ = await self._executor.run(prepared, asked.variables, await renew(), asked.operation_name)
        yield Piece(self._write(result))

    async def _follow(self, prepared: Prepared, asked: Parameters, renew: Renew) -> AsyncGenerator[Piece | None, None]:
        name, variables = asked.operation_name, asked.variables
        values = await self._executor.subscribe(prepared, variables, await renew(), name, asked.last_event_id)
        if isinstance(values, ExecutionResult):
            raise Refused(self._write_errors(values))
        async with aclosing(values):
            async for value in values:
                actor = await renew()
                if value is None:
                    yield None
                    continue
                result, _ = await self._executor.run(prepared, variables, actor, name, value)
                yield Piece(self._write(result), value.id)

    def _write(self, result: ExecutionResult) -> dict[str, Any]:
        """Return a result as GraphQL writes it; raise `Refused` where the operation did not begin, or not commit."""
        if not result.errors:
            return {"data": result.data}
        errors = self._write_errors(result)
        if result.data is None and not any(error.path for error in result.errors):
            raise Refused(errors)
        return {"errors": errors, "data": result.data}

    def _write_errors(self, result: ExecutionResult) -> list[dict[str, Any]]:
        return [{**error.formatted, **self.tell(find_cause(error))} for error in result.errors or ()]

    def tell(self, error: DomainError) -> dict[str, Any]:
        """Return an error as the client is told it."""
        return {"message": str(error), "extensions": extensions(error, self._docs_url, request_id())}
