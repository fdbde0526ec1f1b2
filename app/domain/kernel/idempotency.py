"""Idempotency keys: a repeated request gets the stored answer and has no further effect.

The rules are those of the IETF draft "The Idempotency-Key HTTP Header Field": one key, one request; the same key
with another request is refused. Answers are stored for 24 hours.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from sqlalchemy import ForeignKey, Index, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from app.db.base import Base, Created
from app.domain.kernel.account_tables import PHYSICAL, DeletedTable
from app.domain.kernel.errors import DomainError, InvalidInput
from app.domain.kernel.retention import Rule, batch_of
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_LENGTH = 255
KEPT = timedelta(hours=24)
"""The time that an answer is stored."""

OWN = "\x1f"
"""The prefix of the service's own keys, which callers may not use."""

OWN_KEPT = timedelta(days=30)
"""The time that the answer to an own key is stored: longer than any outage after which it is needed."""

DELETE = "DELETE FROM idempotency_keys WHERE {condition}"

RULES = (
    Rule(
        DELETE.format(condition=batch_of("idempotency_keys", f"created_at < $1 AND NOT starts_with(key, '{OWN}')")),
        KEPT,
    ),
    Rule(DELETE.format(condition=batch_of("idempotency_keys", "created_at < $1")), OWN_KEPT),
)

DELETED = (DeletedTable("idempotency_keys", ("key",), row=PHYSICAL),)


class IdempotencyKeyReused(DomainError):
    """The idempotency key was used before, for a different request."""

    code = "idempotency_key_reused"
    status = 422
    about = "idempotency_key"
    message = "The idempotency key '{key}' was used for another request. Use a new key for a new request."


class Answered(Base):
    """The stored answer to a request with an idempotency key."""

    __tablename__ = "idempotency_keys"
    __table_args__ = (Index("ix_idempotency_keys_created_at", "created_at"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    fingerprint: Mapped[str]
    answer: Mapped[dict[str, Any]]
    created_at: Mapped[Created]


@dataclass(frozen=True, slots=True)
class Once:
    """The answer to a request, and whether it is a stored one."""

    answer: dict[str, Any]
    replayed: bool


def fingerprint(operation: str, **arguments: Any) -> str:
    """Return a digest of a request; equal requests have equal digests."""
    return hashlib.sha256(orjson.dumps([operation, arguments], option=orjson.OPT_SORT_KEYS)).hexdigest()


class OwnKey(str):
    """A key of the service itself; it identifies the request completely, so that no fingerprint is compared."""

    __slots__ = ()

    def __new__(cls, *parts: object) -> "OwnKey":
        """Make a key from parts: `OwnKey("step", 4, 1)`."""
        return super().__new__(cls, OWN + "/".join(map(str, parts)))


def check_key(key: str) -> str:
    """Return the key; raise `InvalidInput` for one that is empty, too long or reserved for the service."""
    if isinstance(key, OwnKey):
        return key
    if not key or len(key) > MAX_LENGTH:
        raise InvalidInput(
            reason=f"The idempotency key must have 1 to {MAX_LENGTH} characters.", field="idempotency_key"
        )
    if key.startswith(OWN):
        raise InvalidInput(
            reason="The idempotency key must not begin with the character U+001F.", field="idempotency_key"
        )
    return key


async def find_answer(unit: UnitOfWork, key: str | None, digest: str) -> Once | None:
    """Return the stored answer to a key, without locks; raise `IdempotencyKeyReused`."""
    if key is None:
        return None
    own = Answered.account_id == unit.actor.account_id, Answered.key == check_key(key)
    found = await unit.one(select(Answered).where(*own))
    return Once(replay(found.key, found.fingerprint, digest, found.answer), replayed=True) if found else None


async def once(unit: UnitOfWork, key: str | None, digest: str, act: Callable[[], Awaitable[dict[str, Any]]]) -> Once:
    """Run `act` and store its answer, or return the stored answer to the key.

    Of two concurrent requests with one key, the second waits for the first one's commit. When `act` fails, its key is
    rolled back and can be used again. Lock the account or its balance before this call, as sends do. Raises
    `IdempotencyKeyReused`.
    """
    if key is None:
        return Once(await act(), replayed=False)
    row: dict[str, Any] = {
        "account_id": unit.actor.account_id,
        "key": check_key(key),
        "fingerprint": digest,
        "answer": {},
    }
    claimed = await unit.execute(insert(Answered).values(row).on_conflict_do_nothing().returning(Answered.key))
    found = await unit.one(select(Answered).where(Answered.account_id == unit.actor.account_id, Answered.key == key))
    assert found is not None
    if claimed.first() is None:
        return Once(replay(found.key, found.fingerprint, digest, found.answer), replayed=True)
    found.answer = await act()
    await unit.save(found)
    return Once(found.answer, replayed=False)


def replay(key: str, known: str, digest: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return the stored answer; raise `IdempotencyKeyReused` when the request differs."""
    if known != digest:
        raise IdempotencyKeyReused(key=key)
    return answer
