"""Shared base of the pages under /account, which run operation documents as the signed-in user."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.models import Role
from app.domain.accounts.scopes import Scope
from app.domain.accounts.sign_in.authentication import actor_of
from app.domain.kernel.errors import DomainError, NotFound, RateLimited, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.execute import Executor
from app.graphql.schema import FRAGMENTS, contract
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.operations.document import Operation, load
from app.web.browser import Browser, SignedIn
from app.web.sign_in import login_path
from app.web.wording import seconds_of, wait

DOCUMENTS = Path(__file__).parent / "operations"
ID = re.compile(r"[0-9]{1,18}")
"""The form of an id; ids have 64 bits."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of a signed-in user, and its form fields."""

    request: Request
    signed_in: SignedIn
    form: dict[str, str]

    @property
    def actor(self) -> Actor:
        """Return the actor of the user."""
        return actor_of(self.signed_in.user, request_id())

    @property
    def is_owner(self) -> bool:
        """Return whether the user may change the account."""
        return Scope.account_write in self.actor.scopes

    @property
    def id(self) -> int:
        """Return the id in the path; raise `NotFound` for a malformed one."""
        text = self.request.path_params["id"]
        if not ID.fullmatch(text):
            raise NotFound(kind="record", id=text[:40])
        return int(text)


@dataclass(frozen=True, slots=True)
class Fault:
    """An error to show on a page, beside the field or row named by `place`."""

    error: DomainError
    place: str

    @property
    def text(self) -> str:
        """Return the text to show."""
        return wait(self.error) if isinstance(self.error, RateLimited) else str(self.error)


Handler = Callable[[Visit], Awaitable[Response]]


class Console:
    """Runs operation documents for visits, and returns pages."""

    def __init__(self, browser: Browser, executor: Executor) -> None:
        self._browser = browser
        self._executor = executor
        self._documents = operations()

    def route(self, path: str, method: str, handler: Handler, page: str | None) -> Route:
        """Return a route for signed-in users; others are redirected to sign in, and then to `page`.

        Where it is None, they return to the address that they asked for, with its parameters.
        """

        async def answer(request: Request) -> Response:
            form = await self._browser.read_form(request) if method == "POST" else {}
            signed_in = await self._browser.find(request)
            if signed_in is None:
                return self._browser.redirect(login_path(page or _address(request)))
            if signed_in.user.role == Role.service:
                raise Unauthenticated(reason="A service user signs in to connect applications only.")
            return await handler(Visit(request, signed_in, form))

        return CountedRoute(path, self._browser.shown(answer), methods=[method])

    async def run(self, visit: Visit, document: str, /, **variables: Any) -> Any:
        """Run a document as the user; return the value of its field. Raises its `DomainError`."""
        operation = self._documents[document]
        await self._executor.admit(operation.scopes, visit.actor)
        return (await self._executor(operation, variables, visit.actor)).value

    def page(self, visit: Visit, template: str, fault: Fault | None, **values: Any) -> Response:
        """Return a page, with the error at its place."""
        notice = None if fault else visit.request.query_params.get("notice", "")
        shown = {"visit": visit, "fault": fault, "notice": notice, **values}
        response = self._browser.page(visit.request, template, fault.error.status if fault else 200, **shown)
        if fault and isinstance(fault.error, RateLimited):
            response.headers["Retry-After"] = str(seconds_of(fault.error))
        return response

    def now(self) -> datetime:
        """Return the present time in UTC."""
        return self._executor.services.clock.now()

    def redirect(self, path: str) -> Response:
        """Return a redirect to a path."""
        return self._browser.redirect(path)


def _address(request: Request) -> str:
    return f"{request.url.path}?{request.url.query}"


@cache
def operations() -> dict[str, Operation]:
    """Return the pages' operation documents by name; raise `InvalidDocument` for one that does not fit the contract."""
    return {operation.name: operation for operation in load(DOCUMENTS, contract(), FRAGMENTS)}


def place_of(error: DomainError, fields: tuple[str, ...]) -> str:
    """Return the field whose name begins the text of an error; otherwise the first field."""
    return next((field for field in fields if str(error).startswith(field)), fields[0])


def day(at: str | datetime | None) -> str:
    """Return the date of a timestamp in words; empty for None."""
    instant = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{instant:%-d %B %Y}" if instant else ""
