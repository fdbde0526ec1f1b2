"""HTTP endpoints generated from operation documents."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol
from urllib.parse import quote, urlencode

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import Unauthenticated
from app.domain.kernel.paging import MAX_OFFSET
from app.domain.kernel.unit_of_work import Actor
from app.http.routing import PlainRoute
from app.operations.document import Operation
from app.operations.surface import Rest
from app.rest.arguments import Places, Reader, read_query
from app.rest.envelope import success


class Answer(Protocol):
    """The result of an operation, from this request or an earlier one with the same idempotency key."""

    @property
    def value(self) -> Any:
        """Return the value of the root field."""
        ...

    @property
    def replayed(self) -> bool:
        """Return whether it is the stored result of an earlier request."""
        ...


class Execute(Protocol):
    """Runs operations on behalf of actors."""

    async def admit(self, scopes: frozenset[str], actor: Actor | None) -> None:
        """Count a request; raise `DomainError` if the actor lacks a scope or exceeds a limit."""
        ...

    async def count_size(self, size: int, actor: Actor | None) -> None:
        """Count a large body, of so many bytes, as several requests; raise `RateLimited`."""
        ...

    async def __call__(
        self, operation: Operation, variables: Mapping[str, Any], actor: Actor | None, *, as_text: bool
    ) -> Answer:
        """Run an admitted operation, with fragments of JSON in lists if `as_text`; raise `DomainError`."""
        ...


_STARTS = ("offset", "after")
"""The parameters that position a page."""

Identify = Callable[[Request], Awaitable[Actor | None]]
"""Returns the actor of a request; None without a key. Raises `Unauthenticated` for an invalid key."""


def routes(operations: Iterable[Operation], execute: Execute, identify: Identify) -> list[Route]:
    """Return one route for each path and method; fixed paths come before paths with a placeholder."""
    endpoints = [Endpoint(operation, rest, execute, identify) for operation in operations for rest in operation.rest]
    endpoints.sort(key=lambda endpoint: _precedence(endpoint.rest))
    return [
        PlainRoute(endpoint.rest.path, endpoint.respond, methods=[endpoint.rest.method], name=endpoint.operation.name)
        for endpoint in endpoints
    ]


class Endpoint:
    """One operation as an HTTP endpoint."""

    def __init__(self, operation: Operation, rest: Rest, execute: Execute, identify: Identify) -> None:
        self.operation = operation
        self.rest = rest
        self._read = Reader(Places(operation, rest))
        self._execute = execute
        self._identify = identify

    async def respond(self, request: Request) -> Response:
        """Run the operation, and return its response; raise `DomainError`."""
        actor = await self._identify(request)
        if actor is None and self.operation.scopes:
            raise Unauthenticated(reason="No key was sent.")
        await self._execute.admit(self.operation.scopes, actor)
        body = await self._read.read_body(request)
        await self._execute.count_size(len(body), actor)
        variables = self._read(request, body)
        answer = await self._execute(self.operation, variables, actor, as_text=True)
        headers = {"Idempotent-Replayed": "true"} if answer.replayed else {}
        if self.rest.envelope == "page":
            headers |= self._page_headers(request, variables, answer.value)
        shown = {header: answer.value[field] for header, field in self.rest.shown.items()}
        headers |= {header: text for header, text in shown.items() if text is not None}
        value = answer.value[self.rest.pick] if self.rest.pick else answer.value
        body = orjson.dumps(success(value, self.rest.envelope))
        return Response(body, headers=headers, media_type="application/json")

    def _page_headers(self, request: Request, variables: Mapping[str, Any], page: Mapping[str, Any]) -> dict[str, str]:
        limit, offset, after = (self._given(name, variables) for name in ("limit", "offset", "after"))
        total, place = page["total_count"], page["page_info"]
        neighbours: dict[str, dict[str, str]] = {}
        if place["has_next_page"]:
            by_offset = not after and offset + limit <= MAX_OFFSET
            neighbours["next"] = {"offset": str(offset + limit)} if by_offset else {"after": place["end_cursor"]}
        if offset > 0:
            neighbours["prev"] = {"offset": str(max(min(offset, total) - limit, 0))}
        query = read_query(request) | {"limit": [str(limit)]}
        links = [_link(request.scope["path"], query, relation, start) for relation, start in neighbours.items()]
        headers = {"X-Total-Count": str(total), "X-Total-Is-Exact": str(page["total_is_exact"]).lower()}
        return headers | ({"Link": ", ".join(links)} if links else {})

    def _given(self, name: str, variables: Mapping[str, Any]) -> Any:
        return variables.get(name, self.operation.variables[name].schema.get("default", 0))


def _link(path: str, query: Mapping[str, list[str]], relation: str, start: Mapping[str, str]) -> str:
    """Return a link (RFC 8288) to another page of the same list, at an offset or after a cursor."""
    kept = {name: texts for name, texts in query.items() if name in start or name not in _STARTS}
    target = f"{quote(path)}?{urlencode({**kept, **start}, doseq=True)}"
    return f'<{target}>; rel="{relation}"'


def _precedence(rest: Rest) -> tuple[int, str]:
    """Sort `/contacts/tags` before `/contacts/{id}`, which also matches it: a brace sorts after every letter."""
    return rest.path.count("/"), rest.path
