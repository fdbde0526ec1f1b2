"""Who is asking, when it is a browser: the cookie of a session becomes an actor."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import cookie_parser

from app.domain.accounts.authentication import Authentication, actor_of
from app.domain.accounts.models import Role
from app.domain.kernel.errors import Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.http.identity import Identify, request_id
from app.settings import Settings
from app.urls import split

SAME_SITES = ("same-origin", "none")


@dataclass(frozen=True, slots=True)
class Origin:
    """The address that browsers know the service by, and what follows from it."""

    url: str
    is_secure: bool

    @classmethod
    def of(cls, settings: Settings) -> "Origin":
        """Return the service's origin. In development it may be plain http; elsewhere cookies need https."""
        parts = split(settings.public_url)
        return cls(f"{parts.scheme}://{parts.netloc}", parts.scheme == "https" or not settings.in_development)

    def cookie(self, name: str) -> str:
        """Return the name of a cookie: one that begins with `__Host-` no other host can set (RFC 6265bis, 4.1.3.2)."""
        return f"__Host-{name}" if self.is_secure else name

    def sent(self, headers: Mapping[str, str]) -> bool | None:
        """Tell whether a page of ours sent a request, by what its browser says; None where it says nothing.

        A page that sends no referrer has the origin `null` even on its own forms, so `Sec-Fetch-Site` goes first.
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
    """Return scheme, host and port of an origin; a port may be left out where it is its scheme's own (RFC 6454, 4)."""
    parts = split(origin)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)


def cookie_in(headers: Mapping[str, str], name: str) -> str | None:
    """Return the value of a cookie."""
    return cookie_parser(headers.get("cookie", "")).get(name)


class SessionIdentity:
    """Resolves who bears a key or token, as `bearer` does, and else who is signed in."""

    def __init__(self, bearer: Identify, authentication: Authentication, origin: Origin) -> None:
        self._bearer = bearer
        self._door = authentication
        self._origin = origin

    async def resolve(self, headers: Mapping[str, str]) -> Actor | None:
        """Return the actor; None where there is neither key nor cookie, or where another site sent the cookie.

        Raises `Unauthenticated` for a key that is not good, and for a service user's session.
        """
        if (actor := await self._bearer(headers)) is not None:
            return actor
        token = cookie_in(headers, self._origin.cookie("session"))
        if token is None or not self._origin.sent(headers):
            return None
        entry = await self._door.find(token)
        if entry is None:
            return None
        if entry.user.role == Role.service:
            raise Unauthenticated(reason="A service user signs in to connect applications only.")
        return actor_of(entry.user, request_id(), entry.session.id)
