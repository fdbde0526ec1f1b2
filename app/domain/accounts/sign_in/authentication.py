"""Password sign-in, sign-out, password reset and invitations."""

import asyncio
import math
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sqlalchemy import func, select, update

from app.db.engine import Sessions
from app.domain.accounts import audit, invitations, links, sessions
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.links import PasswordLinkInvalid
from app.domain.accounts.models import Account, AccountStatus, Invitation, PasswordLink, User
from app.domain.accounts.roles import scopes_of
from app.domain.accounts.sessions import Entry, Visitor
from app.domain.accounts.sign_in import known_browsers, passwords
from app.domain.accounts.sign_in.attempts import Attempt, Attempts
from app.domain.accounts.sign_in.delays import Delays, TooManyHeld
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError, InvalidInput, RateLimited
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit

SIGN_IN = "sign_in"
RESET = "reset"
CHANGE = "change"


class SignInRefused(DomainError):
    """The e-mail address or the password is wrong, or the user may not sign in. The error does not say which."""

    code = "sign_in_refused"
    status = 403
    message = "The e-mail address or the password is wrong."


class WrongPassword(InvalidInput):
    """The current password, required to change it, is wrong."""

    code = "wrong_password"
    message = "The current password is wrong."


@dataclass(frozen=True, slots=True)
class MailedLink:
    """A mailed link that sets a password: a password reset, or an invitation."""

    email: str
    opened: PasswordLink | Invitation
    user: User | None = None

    @property
    def is_invitation(self) -> bool:
        """Return whether the link is an invitation."""
        return isinstance(self.opened, Invitation)


@dataclass(frozen=True, slots=True)
class Authentication:
    """Signs users in. Passwords are verified with no transaction open, also for unknown addresses.

    A refusal is answered before its audit entry is written, so that the response time does not reveal whether the user
    exists; `close` waits for these entries.
    """

    db: Sessions
    clock: Clock
    notify: Notify
    attempts: Attempts
    tokens: Tokens
    delays: Delays = field(default_factory=Delays)
    _notes: set[asyncio.Task[None]] = field(default_factory=set)

    async def close(self) -> None:
        """Wait until the audit entries of refusals are written."""
        await asyncio.gather(*self._notes, return_exceptions=True)

    async def enter(self, email: str, password: str, visitor: Visitor, old_token: str = "") -> tuple[Entry, str]:
        """Sign a user in; return the new session and its token. The session of `old_token` ends.

        Raises `SignInRefused`, with the same text for every cause, or `RateLimited` after several failures.
        """
        attempt = self._attempt(SIGN_IN, email, visitor)
        await self._count(attempt)
        known = await self._find_user(email)
        stored = known[0].password_hash if known else None
        is_right, renewed = await self._verify(attempt, password, stored)
        if known is None:
            raise SignInRefused()
        user, account = known
        if not is_right or account.status != AccountStatus.active:
            self._note_refusal(user, visitor)
            raise SignInRefused()
        async with self._unit(user, visitor) as unit:
            await _hold(unit, user, renewed)
            await sessions.end_by_hash(unit, self.tokens.fingerprint(old_token))
            session, token = await sessions.begin(unit, self.tokens, user, visitor)
            await _record(unit, AuditAction.signed_in, user, visitor)
        await self.attempts.succeed(attempt)
        return Entry(session, user, account), token

    async def find(self, token: str) -> Entry | None:
        """Return the session of a token and update its last use; None for an unknown or expired token."""
        now = self.clock.now()
        async with self.db() as db:
            entry = await sessions.find(db, self.tokens.fingerprint(token), now)
            if entry and await sessions.touch(db, entry.session, now):
                await db.commit()
        return entry

    async def leave(self, entry: Entry, visitor: Visitor) -> None:
        """Sign out."""
        async with self._unit(entry.user, visitor) as unit:
            await sessions.end_by_hash(unit, entry.session.hash)
            await _record(unit, AuditAction.signed_out, entry.user, visitor)

    async def check_reset(self, email: str, visitor: Visitor) -> None:
        """Raise `RateLimited` after too many requests for links; call it before `ask_reset`."""
        await self._count(Attempt(RESET, _plain(email), visitor.address))

    async def ask_reset(self, email: str, visitor: Visitor) -> None:
        """Mail a password link if the user exists. The caller cannot tell whether it does.

        No further link is mailed while the user has `links.MAX_LIVE` valid ones, so that requests by others cannot
        flood a mailbox.
        """
        known = await self._find_user(email)
        if known is None or known[1].status != AccountStatus.active:
            return
        async with self._unit(known[0], visitor) as unit:
            if await links.make(unit, self.tokens, known[0]):
                await _record(unit, AuditAction.password_reset_asked, known[0], visitor)

    async def find_link(self, token: str) -> MailedLink:
        """Return a mailed link; raise `PasswordLinkInvalid`, or `AddressInUse` for an invitation."""
        hash, now = self.tokens.fingerprint(token), self.clock.now()
        async with self.db() as db:
            if found := await links.find(db, hash, now):
                link, user = found
                return MailedLink(user.email, link, user)
            if invitation := await invitations.find(db, hash, now):
                return MailedLink(invitation.email, invitation)
        raise PasswordLinkInvalid()

    async def set_password(self, token: str, password: str, visitor: Visitor) -> User:
        """Set a password by a mailed link, which works once. All sessions of the user end.

        An invitation creates the user. Raises `PasswordLinkInvalid`, `AddressInUse`, or `InvalidInput` for an
        unacceptable password.
        """
        link = await self.find_link(token)
        passwords.check(password, link.email)
        stored = await passwords.hash(password)
        if isinstance(link.opened, Invitation):
            user = await self._join(link.opened, stored, visitor)
        else:
            user = await self._replace(link, stored, visitor)
        await self.attempts.reset(self._attempt(SIGN_IN, user.email, visitor))
        return user

    async def _join(self, invitation: Invitation, stored: str, visitor: Visitor) -> User:
        actor = Actor(invitation.account_id, frozenset(), "invitation", visitor.request_id)
        async with open_unit(self.db, actor, self.clock, self.notify) as unit:
            user = await invitations.accept(unit, invitation, stored)
            if user is None:
                raise PasswordLinkInvalid()
            unit.actor = actor_of(user, visitor.request_id)
            await _record(unit, AuditAction.password_set, user, visitor, by="invitation")
        return user

    async def _replace(self, link: MailedLink, stored: str, visitor: Visitor) -> User:
        user = link.user
        assert user
        async with self._unit(user, visitor) as unit:
            await links.use(unit, link.opened.id)
            await links.delete_unused(unit, user.id)
            await _store(unit, user, stored)
            await sessions.end_all(unit, user.id)
            await _record(unit, AuditAction.password_set, user, visitor, by="reset")
        return user

    async def change_password(self, entry: Entry, old: str, new: str, visitor: Visitor) -> None:
        """Change the password of the signed-in user. All other sessions of the user end.

        Raises `WrongPassword`, `InvalidInput` for an unacceptable new password, or `RateLimited`: attempts are counted
        for each session.
        """
        user = entry.user
        passwords.check(new, user.email)
        attempt = Attempt(CHANGE, user.email, visitor.address, f"session:{entry.session.id}")
        await self._count(attempt)
        is_right, _ = await self._verify(attempt, old, user.password_hash)
        if not is_right:
            raise WrongPassword(field="current_password")
        stored = await passwords.hash(new)
        async with self._unit(user, visitor) as unit:
            await _hold(unit, user)
            await _store(unit, user, stored)
            await links.delete_unused(unit, user.id)
            await sessions.end_all(unit, user.id, keep=entry.session.id)
            await _record(unit, AuditAction.password_set, user, visitor, by="change")
        await self.attempts.succeed(attempt)

    def remember_browser(self, email: str, visitor: Visitor) -> str:
        """Return the cookie that marks the browser as known for the e-mail address, after a sign-in."""
        return known_browsers.remember(self.tokens, visitor.browser, _plain(email))

    def _attempt(self, kind: str, email: str, visitor: Visitor) -> Attempt:
        plain = _plain(email)
        return Attempt(kind, plain, visitor.address, known_browsers.identify(self.tokens, visitor.browser, plain))

    async def _count(self, attempt: Attempt) -> None:
        verdict = await self.attempts.begin(attempt)
        if verdict.wait:
            raise RateLimited(seconds=math.ceil(verdict.wait))
        if verdict.delay:
            await self._hold_back(attempt, verdict.delay)

    async def _hold_back(self, attempt: Attempt, seconds: float) -> None:
        """Delay an attempt; when too many are delayed already, uncount it and raise `RateLimited`."""
        try:
            await self.delays.hold(attempt.address, seconds)
        except TooManyHeld:
            await self.attempts.withdraw(attempt)
            raise RateLimited(seconds=math.ceil(seconds)) from None

    async def _verify(self, attempt: Attempt, password: str, stored: str | None) -> tuple[bool, str | None]:
        """Verify a password; when too many verifications wait, uncount the attempt and raise `RateLimited`."""
        try:
            return await passwords.verify(password, stored)
        except RateLimited:
            await self.attempts.withdraw(attempt)
            raise

    async def _find_user(self, email: str) -> tuple[User, Account] | None:
        statement = (
            select(User, Account)
            .join(Account, Account.id == User.account_id)
            .where(func.lower(User.email) == _plain(email), User.removed_at.is_(None))
        )
        async with self.db() as db:
            row = (await db.execute(statement)).one_or_none()
        return (row[0], row[1]) if row else None

    def _note_refusal(self, user: User, visitor: Visitor) -> None:
        note = asyncio.create_task(self._write_refusal(user, visitor))
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def _write_refusal(self, user: User, visitor: Visitor) -> None:
        async with self._unit(user, visitor) as unit:
            await _record(unit, AuditAction.sign_in_refused, user, visitor)

    @asynccontextmanager
    async def _unit(self, user: User, visitor: Visitor) -> AsyncGenerator[UnitOfWork]:
        actor = actor_of(user, visitor.request_id)
        async with open_unit(self.db, actor, self.clock, self.notify) as unit:
            yield unit


def actor_of(user: User, request_id: str | None = None, session_id: int | None = None) -> Actor:
    """Return the actor of a signed-in user, with the scopes of the user's role."""
    return Actor(user.account_id, scopes_of(user.role), f"user:{user.id}", request_id, user.id, session_id=session_id)


async def _hold(unit: UnitOfWork, user: User, renewed: str | None = None) -> None:
    """Lock a user after password verification, and store a renewed hash; raise `SignInRefused` if it changed."""
    same = (User.id == user.id, User.removed_at.is_(None), User.password_hash == user.password_hash)
    held = update(User).where(*same).values(password_hash=renewed or user.password_hash).returning(User.id)
    if (await unit.execute(held)).scalar_one_or_none() is None:
        raise SignInRefused()


async def _store(unit: UnitOfWork, user: User, stored: str) -> None:
    await unit.execute(update(User).where(User.id == user.id).values(password_hash=stored))


async def _record(unit: UnitOfWork, action: AuditAction, user: User, visitor: Visitor, **details: str) -> None:
    await audit.record(unit, action, user.email, address=visitor.address, user_agent=visitor.user_agent, **details)


def _plain(email: str) -> str:
    return email.strip().lower()
