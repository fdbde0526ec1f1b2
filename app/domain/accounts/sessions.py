"""Browser sessions: begin, find and end them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from app.domain.accounts import audit
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.models import Account, AccountStatus, Session, User
from app.domain.accounts.scopes import Scope
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor, UnitOfWork

IDLE = timedelta(days=14)
LONGEST = timedelta(days=90)
USED_EVERY = timedelta(minutes=1)
MAX_USER_AGENT = 400
MAX_SHOWN = 500


@dataclass(frozen=True, slots=True)
class Visitor:
    """The origin of a request: network address, user agent and request id.

    `browser` is the cookie of `known_browsers`.
    """

    address: str
    user_agent: str = ""
    request_id: str | None = None
    browser: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A valid session with its user and account."""

    session: Session
    user: User
    account: Account


async def begin(unit: UnitOfWork, tokens: Tokens, user: User, visitor: Visitor) -> tuple[Session, str]:
    """Open a session for a user; return it with its token, which is not stored."""
    token, now = tokens.make(), unit.clock.now()
    session = Session(
        account_id=unit.actor.account_id,
        user_id=user.id,
        hash=tokens.fingerprint(token),
        address=visitor.address,
        user_agent=visitor.user_agent[:MAX_USER_AGENT],
        created_at=now,
        last_used_at=now,
        expires_at=now + IDLE,
    )
    await unit.save(session)
    await unit.execute(update(User).where(User.id == user.id).values(last_active_at=now))
    return session, token


async def find(db: AsyncSession, hash: bytes, now: datetime) -> Entry | None:
    """Return the valid session with a fingerprint; None for a removed user or an inactive account.

    Like the look-up of a key, it has no actor, because it identifies the actor.
    """
    statement = (
        select(Session, User, Account)
        .join(User, User.id == Session.user_id)
        .join(Account, Account.id == Session.account_id)
        .where(Session.hash == hash, Session.expires_at > now)
        .where(User.removed_at.is_(None), Account.status == AccountStatus.active)
    )
    row = (await db.execute(statement)).one_or_none()
    return Entry(*row) if row else None


async def touch(db: AsyncSession, session: Session, now: datetime) -> bool:
    """Extend a session by `IDLE`, up to `LONGEST`, at most once a minute; return whether to commit a change.

    The user is locked before the session, as by every other change of both.
    """
    if now - session.last_used_at < USED_EVERY:
        return False
    until = min(now + IDLE, session.created_at + LONGEST)
    stale = (Session.id == session.id, Session.last_used_at < now)
    await db.execute(update(User).where(User.id == session.user_id).values(last_active_at=now))
    await db.execute(update(Session).where(*stale).values(last_used_at=now, expires_at=until))
    return True


def restrict_to_own(actor: Actor) -> int | None:
    """Return the id of the user whose sessions and applications alone a caller may list and end; None for all users.

    A signed-in user may do so without the scope account:write; raises `InsufficientScope` for any other caller.
    """
    if Scope.account_write in actor.scopes:
        return None
    if actor.session_id is None:
        raise InsufficientScope(scope=Scope.account_write)
    return actor.user_id


async def find_all(unit: UnitOfWork, user_id: int | None = None) -> Sequence[Session]:
    """Return at most `MAX_SHOWN` valid sessions of the account, or of one of its users, the last used first."""
    statement = select(Session).where(
        Session.account_id == unit.actor.account_id, Session.expires_at > unit.clock.now()
    )
    if user_id is not None:
        statement = statement.where(Session.user_id == user_id)
    return await unit.all(statement.order_by(Session.last_used_at.desc(), Session.id.desc()).limit(MAX_SHOWN))


async def end(unit: UnitOfWork, id: int, user_id: int | None = None) -> Session:
    """End a session of the account, or of one of its users; raise `NotFound`."""
    own = [Session.account_id == unit.actor.account_id, Session.id == id]
    if user_id is not None:
        own.append(Session.user_id == user_id)
    session = await unit.one(select(Session).where(*own))
    if session is None:
        raise NotFound(kind="session", id=id)
    user = await unit.one(select(User).where(User.id == session.user_id))
    await unit.delete(session)
    await audit.record(unit, AuditAction.session_ended, user.email if user else "", session_address=session.address)
    return session


async def end_by_hash(unit: UnitOfWork, hash: bytes) -> None:
    """Delete the session with a fingerprint, if there is one."""
    await unit.execute(delete(Session).where(Session.hash == hash))


async def end_all(unit: UnitOfWork, user_id: int, keep: int | None = None) -> Sequence[Session]:
    """End every session of a user, except `keep`, and return them."""
    ended = delete(Session).where(Session.user_id == user_id)
    others = ended if keep is None else ended.where(Session.id != keep)
    return (await unit.execute(others.returning(Session))).scalars().all()
