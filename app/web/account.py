"""The page of the signed-in user: profile, sessions, connected applications and password."""

import re
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts import sessions
from app.domain.accounts.models import Session
from app.domain.accounts.sessions import Entry
from app.domain.accounts.sign_in.authentication import SignInRefused, WrongPassword, actor_of
from app.domain.accounts.sign_in.passwords import MIN_LENGTH
from app.domain.accounts.user_agents import describe
from app.domain.kernel.errors import InvalidInput, NotFound, RateLimited
from app.domain.kernel.unit_of_work import UnitOfWork, open_unit
from app.domain.oauth import grants, queries
from app.domain.oauth.queries import ConnectedApplication
from app.http.identity import request_id
from app.http.routing import CountedRoute
from app.services import Services
from app.web.browser import Browser, SignedIn
from app.web.sign_in import login_path
from app.web.wording import seconds_of, wait

PATH = "/account"
NOTICES = {
    "password_changed": "Your password is changed. You are signed out everywhere else.",
    "session_ended": "The session is ended.",
    "disconnected": "The application is disconnected.",
}
MEANWHILE = "Your password was changed meanwhile. Sign out, and sign in with the new one."
KEY = re.compile(r"[0-9]{1,18}")
"""The form of an id; ids have 64 bits."""


def routes(services: Services, browser: Browser) -> list[Route]:
    """Return the routes of the page and its forms."""
    page = AccountPage(services, browser)
    found = [
        (PATH, "GET", page.show),
        (f"{PATH}/password", "POST", page.change_password),
        (f"{PATH}/sessions/{{id}}/end", "POST", page.end_session),
        (f"{PATH}/applications/{{id}}/disconnect", "POST", page.disconnect),
    ]
    return [CountedRoute(path, browser.shown(endpoint), methods=[method]) for path, method, endpoint in found]


class AccountPage:
    """The handlers of the page."""

    def __init__(self, services: Services, browser: Browser) -> None:
        self._services = services
        self._browser = browser

    async def show(self, request: Request) -> Response:
        """Show the page, or redirect to the sign-in page."""
        signed_in = await self._browser.find(request)
        if signed_in is None:
            return self._browser.redirect(login_path(PATH))
        return await self._page(request, signed_in)

    async def change_password(self, request: Request) -> Response:
        """Change the password, and end all other sessions."""
        form = await self._browser.read_form(request)
        signed_in = await self._browser.find(request)
        if signed_in is None:
            return self._browser.redirect(login_path(PATH))
        entry = Entry(signed_in.session, signed_in.user, signed_in.account)
        old, new = form.get("old_password", ""), form.get("password", "")
        try:
            await self._services.authentication.change_password(entry, old, new, self._browser.visitor(request))
        except InvalidInput as refused:
            field = "old_password" if isinstance(refused, WrongPassword) else "password"
            return await self._page(request, signed_in, refused.status, str(refused), field)
        except SignInRefused as refused:
            return await self._page(request, signed_in, refused.status, MEANWHILE)
        except RateLimited as refused:
            response = await self._page(request, signed_in, refused.status, wait(refused))
            response.headers["Retry-After"] = str(seconds_of(refused))
            return response
        return self._browser.redirect(f"{PATH}?notice=password_changed")

    async def end_session(self, request: Request) -> Response:
        """End one of the user's own sessions."""
        await self._browser.read_form(request)
        signed_in = await self._browser.find(request)
        if signed_in is None:
            return self._browser.redirect(login_path(PATH))
        async with self._unit(signed_in) as unit:
            await sessions.end(unit, _key_in(request, "session"), signed_in.user.id)
        return self._browser.redirect(f"{PATH}?notice=session_ended")

    async def disconnect(self, request: Request) -> Response:
        """Disconnect an application of the user."""
        await self._browser.read_form(request)
        signed_in = await self._browser.find(request)
        if signed_in is None:
            return self._browser.redirect(login_path(PATH))
        async with self._unit(signed_in) as unit:
            await grants.revoke(unit, _key_in(request, "connected application"), signed_in.user.id)
        return self._browser.redirect(f"{PATH}?notice=disconnected")

    async def _page(
        self, request: Request, signed_in: SignedIn, status: int = 200, error: str | None = None, field: str = ""
    ) -> Response:
        async with self._unit(signed_in) as unit:
            found = await sessions.find_all(unit, signed_in.user.id)
            applications = await queries.list_applications(unit, signed_in.user.id)
        notice = None if error else NOTICES.get(request.query_params.get("notice", ""))
        return self._browser.page(
            request,
            "account.html",
            status,
            user=signed_in.user,
            account=signed_in.account,
            sessions=[_shown(session, signed_in) for session in found],
            applications=[_shown_application(application) for application in applications],
            min_length=MIN_LENGTH,
            notice=notice,
            error=error,
            wrong_field=field,
        )

    def _unit(self, signed_in: SignedIn) -> AbstractAsyncContextManager[UnitOfWork]:
        services = self._services
        actor = actor_of(signed_in.user, request_id())
        return open_unit(services.database.sessions, actor, services.clock, services.notify)


def _shown(session: Session, signed_in: SignedIn) -> dict[str, object]:
    return {
        "id": session.id,
        "device": describe(session.user_agent),
        "address": session.address,
        "used": _instant(session.last_used_at),
        "is_current": session.id == signed_in.session.id,
    }


def _shown_application(application: ConnectedApplication) -> dict[str, object]:
    return {
        "id": application.id,
        "name": application.client_name,
        "since": f"{application.created_at:%-d %B %Y}",
        "used": _instant(application.last_used_at or application.created_at),
    }


def _instant(at: datetime) -> str:
    return f"{at:%-d %B %Y, %H:%M} UTC"


def _key_in(request: Request, kind: str) -> int:
    """Return the id in the path; raise `NotFound` for a malformed one."""
    text = request.path_params["id"]
    if not KEY.fullmatch(text):
        raise NotFound(kind=kind, id=text[:40])
    return int(text)
