"""The pages to sign in, sign out and choose a password."""

from urllib.parse import quote

import structlog
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.accounts.links import PasswordLinkInvalid
from app.domain.accounts.sessions import Visitor
from app.domain.accounts.sign_in.authentication import Authentication, SignInRefused
from app.domain.accounts.sign_in.passwords import MIN_LENGTH
from app.domain.kernel.errors import DomainError, InvalidInput, RateLimited
from app.http.routing import CountedRoute
from app.services import Services
from app.web.browser import STYLE, STYLE_PATH, Browser
from app.web.wording import seconds_of, wait

LANDING = "/app/"
NOTICES = {
    "password_set": "Your password is set. Sign in with it.",
    "signed_out": "You are signed out.",
}
UNITS_OF_BAD_LINK = 9
"""The additional requests that an invalid link counts as."""

NO_ADDRESS = "Enter the e-mail address that you sign in with."
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}

log = structlog.get_logger(__name__)


def routes(services: Services, browser: Browser) -> list[Route]:
    """Return the routes of the pages and their style sheet."""
    pages = SignInPages(services.authentication, browser)
    found = [
        ("/login", "GET", pages.show_login),
        ("/login", "POST", pages.sign_in),
        ("/logout", "POST", pages.sign_out),
        ("/forgot", "GET", pages.show_forgot),
        ("/forgot", "POST", pages.forgot),
        ("/password/{token}", "GET", pages.show_password),
        ("/password/{token}", "POST", pages.set_password),
    ]
    shown = [CountedRoute(path, browser.shown(endpoint), methods=[method]) for path, method, endpoint in found]
    return [*shown, CountedRoute(STYLE_PATH, _style, methods=["GET"])]


class SignInPages:
    """The handlers of the pages."""

    def __init__(self, authentication: Authentication, browser: Browser) -> None:
        self._authentication = authentication
        self._browser = browser

    async def show_login(self, request: Request) -> Response:
        """Show the form, or redirect a signed-in user."""
        onward = local_path(request.query_params.get("next", ""))
        if await self._browser.find(request):
            return self._browser.redirect(onward)
        return self._login(request, onward)

    async def sign_in(self, request: Request) -> Response:
        """Sign in and redirect, or show the form again with the error."""
        form = await self._browser.read_form(request)
        onward, email = local_path(form.get("next", "")), form.get("email", "")
        try:
            signed_in = await self._browser.sign_in(request, email, form.get("password", ""))
        except (SignInRefused, RateLimited) as refused:
            return self._login(request, onward, email, refused)
        response = self._browser.redirect(onward)
        self._browser.attach(response, signed_in)
        return response

    async def sign_out(self, request: Request) -> Response:
        """Sign out."""
        await self._browser.read_form(request)
        response = self._browser.redirect("/login?notice=signed_out")
        await self._browser.sign_out(request, response)
        return response

    async def show_forgot(self, request: Request) -> Response:
        """Show the form that requests a link."""
        return self._browser.page(request, "forgot.html", error=None, email="")

    async def forgot(self, request: Request) -> Response:
        """Mail a link. The response is the same for every address, and sent before the look-up."""
        form = await self._browser.read_form(request)
        email, who = form.get("email", "").strip(), self._browser.visitor(request)
        if "@" not in email:
            return self._browser.page(request, "forgot.html", InvalidInput.status, error=NO_ADDRESS, email=email)
        try:
            await self._authentication.check_reset(email, who)
        except RateLimited as refused:
            return self._say_wait(request, "forgot.html", refused, email=email)
        response = self._browser.page(request, "sent.html", email=email)
        response.background = BackgroundTask(self._ask_reset, email, who)
        return response

    async def show_password(self, request: Request) -> Response:
        """Show the form that sets a password by a mailed link."""
        return await self._password(request)

    async def set_password(self, request: Request) -> Response:
        """Set a password by a mailed link."""
        form = await self._browser.read_form(request)
        try:
            token, who = request.path_params["token"], self._browser.visitor(request)
            user = await self._authentication.set_password(token, form.get("password", ""), who)
        except PasswordLinkInvalid:
            await self._browser.admit(request, UNITS_OF_BAD_LINK)
            raise
        except InvalidInput as refused:
            return await self._password(request, refused)
        response = self._browser.redirect("/login?notice=password_set")
        self._browser.remember(request, response, user.email)
        return response

    def _login(self, request: Request, onward: str, email: str = "", refused: DomainError | None = None) -> Response:
        shown = {"onward": onward, "email": email}
        if isinstance(refused, RateLimited):
            return self._say_wait(request, "login.html", refused, notice=None, **shown)
        notice = None if refused else NOTICES.get(request.query_params.get("notice", ""))
        status, error = (refused.status, str(refused)) if refused else (200, None)
        return self._browser.page(request, "login.html", status, notice=notice, error=error, **shown)

    async def _password(self, request: Request, refused: DomainError | None = None) -> Response:
        try:
            link = await self._authentication.find_link(request.path_params["token"])
        except PasswordLinkInvalid:
            await self._browser.admit(request, UNITS_OF_BAD_LINK)
            raise
        return self._browser.page(
            request,
            "password.html",
            refused.status if refused else 200,
            email=link.email,
            is_invitation=link.is_invitation,
            min_length=MIN_LENGTH,
            error=str(refused) if refused else None,
        )

    def _say_wait(self, request: Request, template: str, refused: RateLimited, **shown: str | None) -> Response:
        response = self._browser.page(request, template, refused.status, error=wait(refused), **shown)
        response.headers["Retry-After"] = str(seconds_of(refused))
        return response

    async def _ask_reset(self, email: str, who: Visitor) -> None:
        try:
            await self._authentication.ask_reset(email, who)
        except Exception:
            log.exception("password_link_not_created")


def login_path(onward: str) -> str:
    """Return the path of the sign-in page with the path to redirect to afterwards."""
    return f"/login?next={quote(onward, safe='')}"


def local_path(text: str) -> str:
    """Return a local path to redirect to; the landing page for a URL of another site.

    Browsers read `\\` as `/` and drop tabs and line breaks, so a path must not contain them. Characters outside ASCII
    must be encoded.
    """
    is_local = text.startswith("/") and not text.startswith("//")
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and " " not in text
    return text if is_local and is_plain else LANDING


async def _style(_: Request) -> Response:
    return Response(STYLE, headers=FOREVER, media_type="text/css")
