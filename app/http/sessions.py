"""Authentication of browsers by session cookie."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import cookie_parser

from app.domain.accounts.models import Role
from app.domain.accounts.sign_in.authentication import Authentication, actor_of
from app.domain.kernel.errors import Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.http.identity import Identify, request_id
from app.settings import Settings
from app.urls import split

SAME_SITES = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class Origin:
    """The public origin of the service, and its cookie names and origin checks."""

    url: str
    is_secure: bool

    @classmethod
    def of(cls, settings: Settings) -> "Origin":
        """Return the service's origin. Cookies are Secure unless it is plain http in development."""
        parts = split(settings.public_url)
        return cls(f"{parts.scheme}://{parts.netloc}", parts.scheme == "https" or not settings.in_development)

    def cookie(self, name: str) -> str:
        """Return the name of a cookie; with the prefix `__Host-` no other host can set it (RFC 6265bis, 4.1.3.2)."""
        return f"__Host-{name}" if self.is_secure else name

    def sent(self, headers: Mapping[str, str]) -> bool | None:
        """Return whether a page of the service sent a request, by the browser's headers; None without such headers.

        `Sec-Fetch-Site` takes precedence, because a page without referrer has the origin `null` on its own forms.
        """
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if site is not None and site not in SAME_SITES:
            return False
        if origin is None or (origin == "null" and site):
            return None if site is None else True
        here = f"{self.url.partition('://')[0]}://{headers.get('host', '')}"
        try:
            return _place(origin) in (_place(self.url), _place(here))
        except ValueError:
            return False


def _place(origin: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port of an origin, with the scheme's default port if omitted (RFC 6454, 4)."""
    parts = split(origin)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def cookie_in(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a cookie."""
    return cookie_parser(headers.get("cookie", "")).get(name)


class SessionIdentity:
    """Resolves the actor of a key or token by `bearer`, otherwise the signed-in user."""

    def __init__(self, bearer: Identify, authentication: Authentication, origin: Origin) -> None:
        self._bearer = bearer
        self._authentication = authentication
        self._origin = origin

    async def resolve(self, headers: Mapping[str, str]) -> Actor | None:
        """Return the actor; None without key and session cookie, or when another site sent the request.

        Raises `Unauthenticated` for an invalid key, and for a service user's session.
        """
        if (actor := await self._bearer(headers)) is not None:
            return actor
        token = cookie_in(headers, self._origin.cookie("session"))
        if token is None or not self._origin.sent(headers):
            return None
        entry = await self._authentication.find(token)
        if entry is None:
            return None
        if entry.user.role == Role.service:
            raise Unauthenticated(reason="A service user signs in to connect applications only.")
        return actor_of(entry.user, request_id(), entry.session.id)
