"""The page to which CRMs lead people back after an authorization."""

from functools import cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.models import Role
from app.domain.accounts.sign_in.authentication import actor_of
from app.domain.kernel.errors import DomainError, RateLimited, Unauthenticated
from app.graphql.execution.execute import Executor
from app.graphql.schema import FRAGMENTS, contract
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.operations.document import Operation, load
from app.web.browser import Browser, SignedIn
from app.web.sign_in import login_path
from app.web.wording import seconds_of, wait

PATH = "/crm/callback"
DOCUMENTS = Path(__file__).parent / "operations"


def routes(browser: Browser, executor: Executor) -> list[Route]:
    """Return the route of the page."""
    page = CrmPage(browser, executor)
    return [CountedRoute(PATH, browser.shown(page.finish))]


@cache
def document() -> Operation:
    """Return the document that finishes a connection; raise `InvalidDocument` where it does not fit the contract."""
    [operation] = load(DOCUMENTS, contract(), FRAGMENTS)
    return operation


class CrmPage:
    """The handler of the page, for people who are signed in; `state` names the account that began."""

    def __init__(self, browser: Browser, executor: Executor) -> None:
        self._browser = browser
        self._executor = executor
        self._document = document()

    async def finish(self, request: Request) -> Response:
        """Finish the connection, and say whether it is made; others sign in, and return with the parameters."""
        signed_in = await self._browser.find(request)
        if signed_in is None:
            return self._browser.redirect(login_path(f"{PATH}?{request.url.query}"))
        if signed_in.user.role == Role.service:
            raise Unauthenticated(reason="A service user signs in to connect applications only.")
        try:
            made = await self._run(signed_in, request)
        except RateLimited as refused:
            response = self._browser.page(request, "crm.html", refused.status, error=wait(refused))
            response.headers["Retry-After"] = str(seconds_of(refused))
            return response
        except DomainError as refused:
            return self._browser.page(request, "crm.html", refused.status, error=str(refused))
        return self._browser.page(request, "crm.html", name=made["name"], error="")

    async def _run(self, signed_in: SignedIn, request: Request) -> Any:
        actor = actor_of(signed_in.user, request_id())
        variables = {name: request.query_params.get(name, "") for name in ("state", "code")}
        await self._executor.admit(self._document.scopes, actor)
        return (await self._executor(self._document, variables, actor)).value
