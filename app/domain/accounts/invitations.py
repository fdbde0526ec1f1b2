"""Invitations to an account: create, list, withdraw and accept them.

An e-mail address belongs to one account. Only the mail reveals whether the invited address has a user in another
account; the inviting account gets the same answer in both cases.
"""

import math
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from app.domain.accounts import audit, credentials, mail_outbox, users
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.models import Account, AccountStatus, Invitation, Role, User
from app.domain.accounts.scopes import Scope
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.errors import Conflict, DomainError, NotFound, RateLimited
from app.domain.kernel.unit_of_work import UnitOfWork

SEED_BYTES = 32
LASTS = timedelta(days=7)
WINDOW = timedelta(days=1)
MAX_OF_ACCOUNT = 100
MAX_OF_RECIPIENT = 3
"""Maximum number of invitations of an account in a day, and of those to one e-mail address."""

MAX_PEOPLE = 500
"""Maximum number of users and pending invitations of an account, together."""

MAX_MAILED = 5
"""Maximum number of invitations of all accounts mailed to one e-mail address in any 24 hours.

Further ones are mailed later; one that would be mailed less than a day before it expires is refused.
"""


class AddressInUse(DomainError):
    """The invited e-mail address signs in to another account, and an address belongs to one account."""

    code = "address_in_use"
    status = 409
    message = (
        "Your e-mail address signs in to another account already, and an address belongs to one account. "
        "Ask to be invited under another address, or have an owner of that account remove you there and come back."
    )


class InvitationEnded(DomainError):
    """The user who sent the invitation may no longer invite. Ask an owner of the account for another one."""

    code = "invitation_ended"
    status = 410
    message = (
        "This invitation has ended: the person who made it may no longer invite. "
        "Ask an owner of the account for another one."
    )


async def invite(unit: UnitOfWork, tokens: Tokens, email: str, role: Role) -> Invitation:
    """Invite a person by mail. A second invitation replaces the first.

    The invitation ends with the user who creates it (`credentials`). Raises `PersonRequired`, `Conflict` for a user of
    this account and for more than `MAX_PEOPLE`, `InsufficientScope` for a role with more scopes than the actor, and
    `RateLimited` for too many in a day.
    """
    users.check_is_person(unit)
    address, now = users.plain_email(email), unit.clock.now()
    users.check_may_give(unit, role)
    await users.lock_account(unit)
    await _check_is_no_member(unit, address)
    await _check_rate(unit, address)
    await _end(unit, Invitation.email == address)
    await _check_room(unit)
    seed, mail_at = secrets.token_bytes(SEED_BYTES), await _next_mail_at(unit, address)
    if (too_late := mail_at - (now + LASTS - WINDOW)) >= timedelta():
        raise RateLimited(seconds=math.ceil(too_late.total_seconds()) + 1)
    invitation = Invitation(
        account_id=unit.actor.account_id,
        email=address,
        role=role,
        hash=tokens.fingerprint(tokens.of_link(seed)),
        creator_id=await credentials.record_creator(unit),
        created_at=now,
        mail_at=mail_at,
        expires_at=now + LASTS,
    )
    await unit.save(invitation)
    await mail_outbox.post_invitation(unit, invitation, seed)
    await audit.record(unit, AuditAction.user_invited, address, invitation_id=invitation.id, role=role)
    return invitation


async def list_pending(unit: UnitOfWork) -> Sequence[Invitation]:
    """Return the account's invitations that can be accepted, newest first."""
    own = select(Invitation).where(Invitation.account_id == unit.actor.account_id, *_acceptable(unit.clock.now()))
    return await unit.all(own.order_by(Invitation.id.desc()))


async def withdraw(unit: UnitOfWork, id: int) -> Invitation:
    """Withdraw an invitation of the account: its link stops working.

    Raises `NotFound` for one that cannot be accepted, and `PersonRequired`.
    """
    users.check_is_person(unit)
    own = (Invitation.account_id == unit.actor.account_id, Invitation.id == id)
    invitation = await unit.one(select(Invitation).where(*own, *_acceptable(unit.clock.now())))
    if invitation is None:
        raise NotFound(kind="invitation", id=id)
    await _end(unit, Invitation.id == id)
    await audit.record(unit, AuditAction.invitation_withdrawn, invitation.email, invitation_id=id)
    return invitation


async def find(db: AsyncSession, hash: bytes, now: datetime) -> Invitation | None:
    """Return the invitation of a mailed link; None when it has ended or its account is suspended.

    Raises `InvitationEnded`, and `AddressInUse`, which only the reader of that mailbox can see.
    """
    statement = (
        select(Invitation, address_is_in_use())
        .join(Account, Account.id == Invitation.account_id)
        .where(Invitation.hash == hash, Account.status == AccountStatus.active, *_pending(now))
    )
    row = (await db.execute(statement)).one_or_none()
    if row is None:
        return None
    invitation, is_in_use = row
    if (await db.scalars(select(Invitation.id).where(Invitation.id == invitation.id, is_upheld(now)))).first() is None:
        raise InvitationEnded()
    if is_in_use:
        raise AddressInUse()
    return invitation


async def accept(unit: UnitOfWork, invitation: Invitation, password_hash: str) -> User | None:
    """Create the user of an invitation; return None when the invitation or the account has ended meanwhile.

    Raises `AddressInUse`.
    """
    if await users.lock_account(unit) != AccountStatus.active:
        return None
    taken = update(Invitation).where(Invitation.id == invitation.id, *_acceptable(unit.clock.now()))
    accepted = await unit.execute(taken.values(accepted_at=unit.clock.now()).returning(Invitation.id))
    if accepted.scalar_one_or_none() is None:
        return None
    await mail_outbox.withdraw_invitations(unit, Invitation.id == invitation.id)
    row = {
        "account_id": invitation.account_id,
        "email": invitation.email,
        "role": invitation.role,
        "password_hash": password_hash,
    }
    added = await unit.execute(insert(User).values(row).on_conflict_do_nothing().returning(User))
    user = added.scalar_one_or_none()
    if user is None:
        raise AddressInUse()
    return user


def is_upheld(now: datetime) -> ColumnElement[bool]:
    """Return the SQL condition that the creator of an invitation may still invite."""
    return credentials.lives(Invitation.creator_id, now, Scope.account_write)


def address_is_in_use() -> ColumnElement[bool]:
    """Return the SQL condition that a user of any account has the address of an invitation."""
    other = aliased(User)
    same = (func.lower(other.email) == Invitation.email, other.removed_at.is_(None))
    return select(other.id).where(*same).correlate(Invitation).exists()


def _pending(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (Invitation.accepted_at.is_(None), Invitation.withdrawn_at.is_(None), Invitation.expires_at > now)


def _acceptable(now: datetime) -> tuple[ColumnElement[bool], ...]:
    return (*_pending(now), is_upheld(now))


async def _check_is_no_member(unit: UnitOfWork, email: str) -> None:
    own = (User.account_id == unit.actor.account_id, func.lower(User.email) == email, User.removed_at.is_(None))
    if await unit.one(select(User.id).where(*own)):
        raise Conflict(reason=f"A user of this account has the e-mail address {email}.")


async def _check_room(unit: UnitOfWork) -> None:
    own = (User.account_id == unit.actor.account_id, User.removed_at.is_(None))
    people = await unit.one(select(func.count(User.id)).where(*own)) or 0
    if people + len(await list_pending(unit)) >= MAX_PEOPLE:
        raise Conflict(
            reason=f"An account has at most {MAX_PEOPLE} users and invitations. Remove a user or an invitation first."
        )


async def _check_rate(unit: UnitOfWork, email: str) -> None:
    own, since = Invitation.account_id == unit.actor.account_id, unit.clock.now() - WINDOW
    for counted, limit in ((own, MAX_OF_ACCOUNT), (own & (Invitation.email == email), MAX_OF_RECIPIENT)):
        if first := await _first_of(unit, counted, limit, since):
            raise RateLimited(seconds=max(math.ceil((first - since).total_seconds()), 1))


async def _next_mail_at(unit: UnitOfWork, email: str) -> datetime:
    """Return the time of the next mail to an e-mail address, under a lock shared by all accounts that invite it."""
    await unit.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(email, 0))))
    now, is_mailed = (
        unit.clock.now(),
        or_(Invitation.withdrawn_at.is_(None), Invitation.withdrawn_at > Invitation.mail_at),
    )
    mailed = select(Invitation.mail_at).where(Invitation.email == email, Invitation.mail_at > now - WINDOW, is_mailed)
    last = await unit.one(mailed.order_by(Invitation.mail_at.desc()).offset(MAX_MAILED - 1).limit(1))
    return max(last + WINDOW, now) if last else now


async def _first_of(unit: UnitOfWork, counted: ColumnElement[bool], limit: int, since: datetime) -> datetime | None:
    """Return the creation time of the `limit`-th newest invitation since an instant; None when there are fewer."""
    made = select(Invitation.created_at).where(counted, Invitation.created_at > since)
    return await unit.one(made.order_by(Invitation.created_at.desc()).offset(limit - 1).limit(1))


async def _end(unit: UnitOfWork, which: ColumnElement[bool]) -> None:
    """Withdraw those of the account's invitations that can be accepted, and their mails."""
    own = (Invitation.account_id == unit.actor.account_id, which, *_pending(unit.clock.now()))
    await mail_outbox.withdraw_invitations(unit, *own)
    await unit.execute(update(Invitation).where(*own).values(withdrawn_at=unit.clock.now()))
