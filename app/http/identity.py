"""Authentication of requests by API key or access token."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

from app.db.engine import Database
from app.domain.accounts import keys
from app.domain.accounts.api_keys import touch_key
from app.domain.accounts.errors import AccountSuspended
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.queries import KnownKey, find_live_keys
from app.domain.accounts.scopes import complete
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import access_tokens, grants
from app.domain.oauth.access_tokens import BadToken
from app.domain.oauth.authority import Authority
from app.domain.oauth.queries import LiveGrant, find_live_grants
from app.domain.oauth.resources import WORKING_SET
from app.http.challenges import challenge
from app.http.credential_cache import CredentialCache
from app.telemetry.requests import REQUEST_ID

Identify = Callable[[Mapping[str, str]], Awaitable[Actor | None]]
"""Returns the actor of a request's headers, or None without a key. Raises `Unauthenticated` for an invalid key."""

NOT_A_KEY = "This is not a key: it was cut short or mistyped."
NOT_GOOD = "This key is unknown, expired or revoked."
WITHDRAWN = "The connection of this access token has ended: connect the application again."


class KeyNotForTools(DomainError):
    """An `auto_` key is for automations. The tool server accepts a `svc_` key or its own sign-in."""

    code = "key_not_for_tools"
    status = 403
    message = "An auto_ key cannot use the tool server. Sign in there, or send a svc_ key."


class Identity:
    """Resolves keys and tokens. Valid ones are cached for `ttl_seconds`, during which a revoked one still works."""

    def __init__(
        self,
        database: Database,
        secret: bytes,
        clock: Clock,
        ttl_seconds: float,
        authority: Authority,
    ) -> None:
        ttl = timedelta(seconds=ttl_seconds)
        self._secret = secret
        self._clock = clock
        self._authority = authority
        self._keys: CredentialCache[bytes, KnownKey] = CredentialCache(database, ttl, find_live_keys, touch_key)
        self._grants: CredentialCache[int, LiveGrant] = CredentialCache(database, ttl, find_live_grants, grants.touch)

    async def resolve(self, headers: Mapping[str, str]) -> Actor | None:
        """Return the actor of the key or token in the headers, whose names are in lower case; None without one.

        Raises `Unauthenticated` for an invalid one, or a token for the tool server. Its use is written later, at most
        once a minute.
        """
        return await self._resolve(headers, self._authority.resources.api)

    async def resolve_for_tools(self, headers: Mapping[str, str]) -> Actor | None:
        """Return the actor of a request to the tool server, which has its own tokens; raise `KeyNotForTools` too."""
        return await self._resolve(headers, self._authority.resources.tools)

    async def close(self) -> None:
        """Wait until all pending uses are written."""
        await self._keys.close()
        await self._grants.close()

    async def _resolve(self, headers: Mapping[str, str], resource: str) -> Actor | None:
        text = _key_in(headers)
        if text is None:
            return None
        now = self._clock.now()
        if access_tokens.has_form(text):
            return await self._bearer_of_token(text, resource, now)
        actor = await self._bearer_of_key(text, resource, now)
        if resource == self._authority.resources.tools and text.startswith(KeyKind.auto):
            raise KeyNotForTools()
        return actor

    async def _bearer_of_key(self, text: str, resource: str, now: datetime) -> Actor:
        hash = keys.fingerprint(self._secret, text)
        if not self._keys.remembers(hash) and not keys.has_form(text):
            raise self._refusal(NOT_A_KEY, resource)
        key = await self._keys.find(hash, now)
        if key is None or (key.expires_at and key.expires_at <= now):
            raise self._refusal(NOT_GOOD, resource)
        if key.is_suspended:
            raise AccountSuspended()
        return Actor(key.account_id, key.scopes, f"key:{key.id}", request_id(), key_id=key.id)

    async def _bearer_of_token(self, text: str, resource: str, now: datetime) -> Actor:
        authority = self._authority
        try:
            token = await access_tokens.verify(authority.key_ring, authority.issuer, text, now, [resource])
        except BadToken as fault:
            raise self._refusal(f"This access token is not good here. {fault}", resource) from None
        grant = await self._grants.find(token.grant_id, now)
        if grant is None or grant.expires_at <= now:
            raise self._refusal(WITHDRAWN, resource)
        if grant.is_suspended:
            raise AccountSuspended()
        scopes = complete(token.scopes & grant.scopes)
        return Actor(grant.account_id, scopes, f"grant:{grant.id}", request_id(), grant.user_id, grant.id)

    def _refusal(self, reason: str, resource: str) -> Unauthenticated:
        resources = self._authority.resources
        scopes = WORKING_SET if resource == resources.tools else ()
        header = challenge(resources, resource, error="invalid_token", reason=reason, scopes=scopes)
        return Unauthenticated(reason=reason, challenge=header)


def request_id() -> str | None:
    """Return the id of the request being served."""
    return REQUEST_ID.get()


def _key_in(headers: Mapping[str, str]) -> str | None:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    if (key := headers.get("x-api-key")) is not None:
        return key.strip()
    if scheme:
        raise Unauthenticated(reason="The Authorization header holds no key.")
    return None
