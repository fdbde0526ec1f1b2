"""Sealed tokens of links to files, and the limits of a download that outlasts its link's creator.

A token holds an actor, the kind of the file, which one it is, and the end of the link.
"""

import base64
import json
import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography.exceptions import InvalidTag

from app.domain.kernel.errors import DomainError, NotFound
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Actor

LASTS = timedelta(minutes=10)
PIECE_BYTES = 64 * 1024
MAX_SECONDS = 3600.0
"""The time after which a download is aborted."""

CHECK_SECONDS = 5.0
"""The interval of the checks that the actor who created the link may still read the file."""


@dataclass(frozen=True, slots=True)
class FileLinks:
    """The links to files of one `kind`; `ended` is the error of an old one, and the kind tells them from others."""

    kind: str
    ended: type[DomainError]

    def close(self, seal: Seal, actor: Actor, which: int | str, now: datetime) -> tuple[str, datetime]:
        """Return a token for a file, and the time at which it ends."""
        until = now + LASTS
        made_with = [actor.account_id, actor.label, actor.user_id, actor.grant_id, actor.key_id]
        sealed = seal.close(json.dumps([self.kind, made_with, which, until.isoformat(), secrets.token_hex(8)]))
        return base64.urlsafe_b64encode(sealed).decode(), until

    def open(self, seal: Seal, token: str, now: datetime, request_id: str | None = None) -> tuple[Actor, int | str]:
        """Return the actor who created a link, without scopes, and the file; raise `NotFound` and `ended`."""
        try:
            opened = json.loads(seal.open(base64.b64decode(token.encode("ascii"), b"-_", validate=True)))
            kind, (account_id, label, *made_with), which, until, _ = opened
        except (InvalidTag, ValueError, TypeError):
            raise NotFound(kind="file", id=token[:8]) from None
        if kind != self.kind:
            raise NotFound(kind="file", id=token[:8])
        if datetime.fromisoformat(until) <= now:
            raise self.ended()
        return Actor(account_id, frozenset(), label, request_id, *made_with), which


async def split(parts: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the parts of a file in pieces of at most `PIECE_BYTES`, each of which a slow client can read in time."""
    async with aclosing(parts):
        async for part in parts:
            for start in range(0, len(part), PIECE_BYTES):
                yield part[start : start + PIECE_BYTES]


async def limit(pieces: AsyncGenerator[bytes], check: Callable[[], Awaitable[object]]) -> AsyncGenerator[bytes]:
    """Yield the pieces of a file; `check` raises the error of a link whose creator may no longer read the file.

    Raises the errors of `check`, and `TimeoutError` after `MAX_SECONDS`.
    """
    checked_at = time.monotonic()
    ends = checked_at + MAX_SECONDS
    async with aclosing(pieces):
        async for piece in pieces:
            yield piece
            now = time.monotonic()
            if now > ends:
                raise TimeoutError
            if now - checked_at >= CHECK_SECONDS:
                await check()
                checked_at = now
