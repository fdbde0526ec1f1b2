"""Browser sessions, CSRF checks of forms, and responses with pages."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from app.domain.accounts.models import Account, Session, User
from app.domain.accounts.sessions import LONGEST, Entry, Visitor
from app.domain.accounts.sign_in.authentication import SignInRefused
from app.domain.kernel.errors import DomainError, RateLimited, UnsupportedMediaType
from app.http.anonymous import count_anonymous
from app.http.body import FORM as FORM_TYPE
from app.http.body import media_type_of, parse_form, read_body
from app.http.client_address import address_of
from app.http.errors import retry_headers, translate
from app.http.identity import request_id
from app.http.pace import mark_authenticated
from app.http.sessions import Origin, cookie_in
from app.services import Services
from app.telemetry.metrics import SIGN_INS

PAGES = Path(__file__).parent / "pages"
TEMPLATES = Environment(loader=FileSystemLoader(PAGES), autoescape=True, undefined=StrictUndefined)
STYLE = (PAGES / "style.css").read_bytes()
STYLE_PATH = f"/assets/sign-in-{sha256(STYLE).hexdigest()[:12]}.css"

SESSION, FORM, BROWSER = "session", "form", "browser"
TOKEN_FIELD = "form_token"
FORM_SECONDS = 3600
KNOWN_SECONDS = 365 * 24 * 3600
MAX_FORM = 64 * 1024

# No `form-action`: Chromium applies it to redirects after a form too, and would block the one to an application.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Endpoint = Callable[[Request], Awaitable[Response]]


class FormRefused(DomainError):
    """The form was sent by another site, or by a page that is out of date. Reload the page and send the form again."""

    code = "form_refused"
    status = 403
    message = "This form is out of date. Load the page again, then send it once more."


@dataclass(frozen=True, slots=True)
class SignedIn:
    """The signed-in user, with the account and the session.

    `browser` is the cookie of a known browser, set directly after a sign-in.
    """

    user: User
    account: Account
    session: Session
    token: str = field(repr=False)
    browser: str = field(default="", repr=False)


def render(template: str, status: int = 200, **values: Any) -> Response:
    """Return a page of a template; `style` is the path of the style sheet."""
    text = TEMPLATES.get_template(template).render({"style": STYLE_PATH, **values})
    return Response(text, status, HEADERS, "text/html")


class Browser:
    """Sessions, cookies and forms of all pages."""

    def __init__(self, services: Services) -> None:
        self._authentication = services.authentication
        self._limits = services.limits
        self._origin = Origin.of(services.settings)

    async def find(self, request: Request) -> SignedIn | None:
        """Return the signed-in user, looked up once per request."""
        if not hasattr(request.state, "signed_in"):
            token = self._cookie(request, SESSION)
            entry = await self._authentication.find(token) if token else None
            request.state.signed_in = self._signed_in(entry, token) if entry and token else None
        return request.state.signed_in

    async def admit(self, request: Request, units: int = 1) -> None:
        """Count a request without a session for its network; raise `RateLimited`."""
        if await self.find(request) is None:
            await count_anonymous(self._limits, address_of(request), units)
        else:
            mark_authenticated()

    async def sign_in(self, request: Request, email: str, password: str) -> SignedIn:
        """Sign a user in with a new session; `attach` it to the response.

        Raises `SignInRefused`, with the same text for every cause, or `RateLimited` after several failures.
        """
        old_token, visiting = self._cookie(request, SESSION) or "", self.visitor(request)
        try:
            entry, token = await self._authentication.enter(email, password, visiting, old_token)
        except (SignInRefused, RateLimited) as refused:
            SIGN_INS.labels("refused" if isinstance(refused, SignInRefused) else "held_back").inc()
            raise
        SIGN_INS.labels("signed_in").inc()
        await self._limits.shares.note_known(visiting.address)
        return replace(self._signed_in(entry, token), browser=self._authentication.remember_browser(email, visiting))

    def attach(self, response: Response, signed_in: SignedIn) -> None:
        """Set the session cookie, and delete the cookie of anonymous forms."""
        self._set_cookie(response, SESSION, signed_in.token, int(LONGEST.total_seconds()))
        self._set_cookie(response, BROWSER, signed_in.browser, KNOWN_SECONDS)
        self._set_cookie(response, FORM, "", 0)

    def remember(self, request: Request, response: Response, email: str) -> None:
        """Set the cookie of a known browser, after its user has opened a mailed link."""
        self._set_cookie(
            response, BROWSER, self._authentication.remember_browser(email, self.visitor(request)), KNOWN_SECONDS
        )

    def visitor(self, request: Request) -> Visitor:
        """Return the origin of a request."""
        known_as = self._cookie(request, BROWSER) or ""
        return Visitor(address_of(request), request.headers.get("user-agent", ""), request_id(), known_as)

    async def sign_out(self, request: Request, response: Response) -> None:
        """End the session, and delete its cookie."""
        token = self._cookie(request, SESSION)
        if token and (entry := await self._authentication.find(token)):
            await self._authentication.leave(entry, self.visitor(request))
        self._set_cookie(response, SESSION, "", 0)

    async def read_form(self, request: Request) -> dict[str, str]:
        """Return the fields of a form after `check_form`."""
        form = await _read_form(request)
        self.check_form(request, form)
        return form

    def check_form(self, request: Request, form: Mapping[str, str]) -> None:
        """Raise `FormRefused` for a form sent by another site, or without this browser's CSRF token."""
        cookie = self._cookie(request, SESSION) or self._cookie(request, FORM)
        given = form.get(TOKEN_FIELD, "").encode()
        if self._origin.sent(request.headers) is False or cookie is None:
            raise FormRefused()
        if not hmac.compare_digest(self._authentication.tokens.of_form(cookie).encode(), given):
            raise FormRefused()

    def page(self, request: Request, template: str, status: int = 200, **context: Any) -> Response:
        """Return a page. Its template gets `style`, and `form_token`, which each of its forms must send."""
        session = self._cookie(request, SESSION)
        cookie = session or self._cookie(request, FORM) or self._authentication.tokens.make()
        response = render(template, status, form_token=self._authentication.tokens.of_form(cookie), **context)
        if not session:
            self._set_cookie(response, FORM, cookie, FORM_SECONDS)
        return response

    def form_token(self, request: Request) -> str:
        """Return the token that forms of a signed-in browser must send; empty without a session."""
        session = self._cookie(request, SESSION)
        return self._authentication.tokens.of_form(session) if session else ""

    def redirect(self, path: str) -> Response:
        """Return a redirect to a path, followed with GET (303)."""
        return Response(status_code=303, headers={**HEADERS, "Location": path})

    def shown(self, endpoint: Endpoint) -> Endpoint:
        """Return an endpoint that shows errors as pages, and counts requests without a session."""

        async def answer(request: Request) -> Response:
            try:
                await self.admit(request)
                return await endpoint(request)
            except ClientDisconnect:
                raise
            except Exception as cause:
                return self.refuse(request, translate(cause))

        return answer

    def refuse(self, request: Request, error: DomainError) -> Response:
        """Return the page of an error."""
        shown = {"error": error, "request_id": request_id(), "has_session": self._cookie(request, SESSION) is not None}
        response = self.page(request, "refused.html", error.status, **shown)
        response.headers.update(retry_headers(error, error.status))
        return response

    def _signed_in(self, entry: Entry, token: str) -> SignedIn:
        return SignedIn(entry.user, entry.account, entry.session, token)

    def _cookie(self, request: Request, name: str) -> str | None:
        return cookie_in(request.headers, self._origin.cookie(name))

    def _set_cookie(self, response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(
            self._origin.cookie(name),
            value,
            max_age=seconds,
            secure=self._origin.is_secure,
            httponly=True,
            samesite="lax",
        )


async def _read_form(request: Request) -> dict[str, str]:
    given = request.headers.get("content-type", "nothing")
    if media_type_of(given) != FORM_TYPE:
        raise UnsupportedMediaType(expected=FORM_TYPE, given=given)
    return dict(parse_form(await read_body(request, MAX_FORM)))
