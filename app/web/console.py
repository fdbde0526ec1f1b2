"""What the pages under /account share: they run documents of the contract as the user who is signed in."""

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

from app.domain.accounts.authentication import actor_of
from app.domain.accounts.models import Role
from app.domain.accounts.scopes import Scope
from app.domain.kernel.errors import DomainError, NotFound, RateLimited, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.execute import Executor
from app.graphql.schema import contract
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.operations.document import Operation, load
from app.web.browser import Browser, SignedIn
from app.web.sign_in import login_path
from app.web.wording import seconds_of, wait

DOCUMENTS = Path(__file__).parent / "operations"
ID = re.compile(r"[0-9]{1,18}")
"""The ids that a row can have: the database counts in 64 bits."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of a user who is signed in, and the fields of the form that it sent."""

    request: Request
    signed_in: SignedIn
    form: dict[str, str]

    @property
    def actor(self) -> Actor:
        """Return the user as an actor."""
        return actor_of(self.signed_in.user, request_id())

    @property
    def is_owner(self) -> bool:
        """Tell whether the user may change the account."""
        return Scope.account_write in self.actor.scopes

    @property
    def id(self) -> int:
        """Return the id in the path; raise `NotFound` for one that no row can have."""
        text = self.request.path_params["id"]
        if not ID.fullmatch(text):
            raise NotFound(kind="record", id=text[:40])
        return int(text)


@dataclass(frozen=True, slots=True)
class Fault:
    """A refusal to be shown on a page: its sentence, beside the field or in the row that it is about."""

    error: DomainError
    place: str

    @property
    def text(self) -> str:
        """Return the sentence."""
        return wait(self.error) if isinstance(self.error, RateLimited) else str(self.error)


Handler = Callable[[Visit], Awaitable[Response]]


class Console:
    """Runs documents for visits, and answers them with pages."""

    def __init__(self, browser: Browser, executor: Executor) -> None:
        self._browser = browser
        self._executor = executor
        self._documents = operations()

    def route(self, path: str, method: str, handler: Handler, page: str) -> Route:
        """Return a route for who is signed in; others are led to where one signs in, and from there to a page."""

        async def answer(request: Request) -> Response:
            form = await self._browser.read_form(request) if method == "POST" else {}
            signed_in = await self._browser.find(request)
            if signed_in is None:
                return self._browser.redirect(login_path(page))
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
        """Return a page, with the refusal in its place."""
        notice = None if fault else visit.request.query_params.get("notice", "")
        shown = {"visit": visit, "fault": fault, "notice": notice, **values}
        response = self._browser.page(visit.request, template, fault.error.status if fault else 200, **shown)
        if fault and isinstance(fault.error, RateLimited):
            response.headers["Retry-After"] = str(seconds_of(fault.error))
        return response

    def now(self) -> datetime:
        """Return the present instant, in UTC."""
        return self._executor.services.clock.now()

    def redirect(self, path: str) -> Response:
        """Lead the browser on."""
        return self._browser.redirect(path)


@cache
def operations() -> dict[str, Operation]:
    """Return the documents of the pages by their names; one that does not fit the contract raises `InvalidDocument`."""
    return {operation.name: operation for operation in load(DOCUMENTS, contract())}


def place_of(error: DomainError, fields: tuple[str, ...]) -> str:
    """Return the field that the sentence of an error begins with; the first one where it begins with none."""
    return next((field for field in fields if str(error).startswith(field)), fields[0])


def day(at: str | datetime | None) -> str:
    """Return the date of an instant of the contract, in words."""
    instant = datetime.fromisoformat(at) if isinstance(at, str) else at
    return f"{instant:%-d %B %Y}" if instant else ""
