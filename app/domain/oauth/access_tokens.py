"""Access tokens: JWTs according to RFC 9068, signed with RS256 only."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import jwt

from app.domain.oauth.resources import join
from app.domain.oauth.signing import ALGORITHM, KeyRing, KnownKey

LIFETIME = timedelta(hours=1)
TYPE = "at+jwt"
TYPES = frozenset({TYPE, f"application/{TYPE}"})
CLAIMS = ("iss", "sub", "aud", "client_id", "scope", "iat", "exp", "jti", "grant_id")
MAX_LENGTH = 8192


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The claims of an access token. `audience` is its resource; it is valid only while its grant is."""

    grant_id: int
    user_id: int
    client_id: str
    audience: str
    scopes: frozenset[str]


class BadToken(Exception):
    """A text is not an access token of this service, or the token has expired; the message says which."""


def has_form(text: str) -> bool:
    """Return whether a text has the form of a JWT."""
    return text.count(".") == 2 and len(text) <= MAX_LENGTH


def sign(key: KnownKey, issuer: str, token: AccessToken, now: datetime, expires_at: datetime) -> str:
    """Return a signed access token."""
    assert key.private
    claims = {
        "iss": issuer,
        "sub": str(token.user_id),
        "aud": token.audience,
        "client_id": token.client_id,
        "scope": join(token.scopes),
        "iat": int(now.timestamp()),
        "exp": int(expires_at.timestamp()),
        "jti": secrets.token_urlsafe(16),
        "grant_id": token.grant_id,
    }
    return jwt.encode(claims, key.private, ALGORITHM, {"typ": TYPE, "kid": key.id})


async def verify(key_ring: KeyRing, issuer: str, text: str, now: datetime, audiences: Iterable[str]) -> AccessToken:
    """Return the claims of an access token for one of the audiences; raise `BadToken`.

    A token that names another algorithm, or none, is refused before the look-up of its key (RFC 8725, 3.1).
    """
    key = await key_ring.find(_key_id(text))
    if key is None:
        raise BadToken("It was not signed by this service.")
    try:
        # The expiry is compared below, with the service's own clock.
        checks: Any = {"require": list(CLAIMS), "verify_exp": False, "verify_iat": False, "strict_aud": False}
        claims = jwt.decode(text, key.public, [ALGORITHM], checks, audience=list(audiences), issuer=issuer)
        token = _read(claims)
        is_over = claims["exp"] <= now.timestamp()
    except jwt.InvalidAudienceError:
        raise BadToken("It is for another address.") from None
    except (jwt.InvalidTokenError, KeyError, TypeError, ValueError):
        raise BadToken("It was not signed by this service.") from None
    if is_over:
        raise BadToken("It has expired.")
    return token


def _key_id(text: str) -> str:
    try:
        header = jwt.get_unverified_header(text)
    except jwt.InvalidTokenError:
        raise BadToken("It is not a token.") from None
    id, kind = header.get("kid"), header.get("typ")
    is_ours = header.get("alg") == ALGORITHM and isinstance(kind, str) and kind.lower() in TYPES
    if not is_ours or not isinstance(id, str):
        raise BadToken("It was not signed by this service.")
    return id


def _read(claims: dict[str, Any]) -> AccessToken:
    [audience] = [claims["aud"]] if isinstance(claims["aud"], str) else claims["aud"]
    scopes = frozenset(str(claims["scope"]).split())
    return AccessToken(int(claims["grant_id"]), int(claims["sub"]), str(claims["client_id"]), audience, scopes)
