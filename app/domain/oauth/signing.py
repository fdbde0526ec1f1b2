"""Signing keys of access tokens: creation, publication and rotation."""

import asyncio
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey, generate_private_key
from jwt.algorithms import RSAAlgorithm
from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import Seal
from app.domain.oauth.models import SigningKey

ALGORITHM = "RS256"
"""The algorithm that every implementation of RFC 9068 supports."""

BITS = 2048
AHEAD = 0.1
"""The share of a period before its end in which the next key is created and published."""

OUTLASTS = timedelta(hours=2)
"""The time that a key verifies after its last signature: longer than the lifetime of an access token."""

REREAD = timedelta(minutes=1)
REREAD_FOR_UNKNOWN = timedelta(seconds=1)
NEVER = datetime.min.replace(tzinfo=UTC)

_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('oauth_signing_keys'))")


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A decrypted signing key. `private` is None if encrypted under another secret key: then it only verifies."""

    id: str
    private: RSAPrivateKey | None
    public: RSAPublicKey
    jwk: dict[str, Any]
    retires_at: datetime
    expires_at: datetime


class KeyRing:
    """The valid signing keys, cached in each process and read again every minute.

    The key that retires first signs. The next one is created before that, so that a cached copy of the published set
    contains a key before its first token.
    """

    def __init__(self, sessions: async_sessionmaker[AsyncSession], clock: Clock, seal: Seal, period: timedelta) -> None:
        self._sessions = sessions
        self._clock = clock
        self._seal = seal
        self._period = period
        self._known: dict[str, KnownKey] = {}
        self._read_at = NEVER
        self._turn = asyncio.Lock()

    async def current(self) -> KnownKey:
        """Return the key that signs now."""
        async with self._turn:
            await self._read(REREAD)
            usable = self._usable()
            if not usable or self._is_ending(usable[-1].retires_at):
                await self._make()
                await self._read(timedelta(0))
                usable = self._usable()
            return usable[0]

    async def find(self, id: str) -> KnownKey | None:
        """Return the key of an id, if it still verifies; the cache may return a deleted key for a minute."""
        within = REREAD if id in self._known else REREAD_FOR_UNKNOWN
        if not self._is_fresh(within):
            async with self._turn:
                await self._read(within)
        found = self._known.get(id)
        return found if found and found.expires_at > self._clock.now() else None

    async def published(self) -> dict[str, Any]:
        """Return the set of public keys (RFC 7517)."""
        await self.current()
        now = self._clock.now()
        return {"keys": [key.jwk for key in self._known.values() if key.expires_at > now]}

    def _usable(self) -> list[KnownKey]:
        now = self._clock.now()
        keys = [key for key in self._known.values() if key.private and key.retires_at > now]
        return sorted(keys, key=lambda key: key.retires_at)

    def _is_ending(self, retires_at: datetime) -> bool:
        return retires_at - self._clock.now() < self._period * AHEAD

    def _is_fresh(self, within: timedelta) -> bool:
        now = self._clock.now()
        return now - within < self._read_at <= now

    async def _read(self, unless_within: timedelta) -> None:
        if self._is_fresh(unless_within):
            return
        now = self._clock.now()
        async with self._sessions() as session:
            rows = await self._rows(session)
        self._known = {row.id: self._known.get(row.id) or self._open(row) for row in rows}
        self._read_at = now

    async def _rows(self, session: AsyncSession) -> list[SigningKey]:
        live = select(SigningKey).where(SigningKey.expires_at > self._clock.now())
        return list((await session.scalars(live.order_by(SigningKey.retires_at))).all())

    async def _make(self) -> None:
        """Create the next key, unless another process has; the slow generation precedes the transaction."""
        private = await asyncio.to_thread(generate_private_key, 65537, BITS)
        async with self._sessions.begin() as session:
            await session.execute(_LOCK)
            now = self._clock.now()
            ends = [row.retires_at for row in await self._rows(session) if self._unseal(row)]
            latest = max(ends, default=now)
            if not self._is_ending(latest):
                return
            session.add(self._close(private, now, max(latest, now) + self._period))

    def _close(self, private: RSAPrivateKey, now: datetime, retires_at: datetime) -> SigningKey:
        id = secrets.token_hex(8)
        jwk: dict[str, Any] = RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
        return SigningKey(
            id=id,
            private_key=self._seal.close(_pem(private)),
            public_jwk={"kty": "RSA", "use": "sig", "alg": ALGORITHM, "kid": id, "n": jwk["n"], "e": jwk["e"]},
            created_at=now,
            retires_at=retires_at,
            expires_at=retires_at + OUTLASTS,
        )

    def _open(self, row: SigningKey) -> KnownKey:
        pem = self._unseal(row)
        private = serialization.load_pem_private_key(pem.encode(), None) if pem else None
        public = jwt.PyJWK(row.public_jwk).key
        assert isinstance(public, RSAPublicKey)
        assert private is None or isinstance(private, RSAPrivateKey)
        return KnownKey(row.id, private, public, row.public_jwk, row.retires_at, row.expires_at)

    def _unseal(self, row: SigningKey) -> str | None:
        try:
            return self._seal.open(row.private_key)
        except InvalidTag:
            return None


def _pem(key: RSAPrivateKey) -> str:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()
