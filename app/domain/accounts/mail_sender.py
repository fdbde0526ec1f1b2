"""Sends waiting mails."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Delete, Select, Update, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.db import claims
from app.domain.accounts import invitations, mail_templates
from app.domain.accounts.mail_outbox import INVITATION, NOTICE, RESET
from app.domain.accounts.mailer import Mail, Mailer, MailNotSent
from app.domain.accounts.models import Account, Invitation, User, WaitingMail
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.clock import Clock

LEASE = timedelta(minutes=2)
WAITS = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1800))
"""The waits after failed attempts; after the last one the mail is dropped."""

TEMPLATES: dict[str, Callable[..., Mail]] = {
    INVITATION: mail_templates.invitation,
    RESET: mail_templates.reset,
    NOTICE: mail_templates.notice,
}

Due = tuple[WaitingMail, str, Account, bool]
"""A mail, its e-mail address and account, and whether another account uses that address."""


@dataclass(frozen=True, slots=True)
class MailSender:
    """Sends one mail at a time, with no transaction open during the call.

    `url` is the base URL of the service. `count` is called with `sent`, `failed` or `given_up`, and a reason to log.
    """

    db: async_sessionmaker[AsyncSession]
    clock: Clock
    tokens: Tokens
    mail: Mailer
    url: str
    count: Callable[[str, str], None]

    async def run(self) -> bool:
        """Send the mail that has been due longest, those with links first; return whether there was one."""
        due = await self._claim()
        if due is None:
            return False
        waiting = due[0]
        try:
            await self.mail.send(self._write(*due))
        except MailNotSent as failure:
            await self._fail(waiting, str(failure))
        else:
            await self._change(delete(WaitingMail), waiting)
            self.count("sent", "")
        return True

    async def due(self) -> bool:
        """Return whether a mail is due."""
        async with self.db() as db:
            return (await db.scalars(_due(self.clock.now()).with_only_columns(WaitingMail.id))).first() is not None

    def _write(self, waiting: WaitingMail, email: str, account: Account, is_in_use: bool) -> Mail:
        words = dict(waiting.words)
        path = f"password/{self.tokens.of_link(waiting.seed)}" if waiting.seed else words.pop("path", "")
        write = mail_templates.invitation_elsewhere if waiting.invitation_id and is_in_use else TEMPLATES[waiting.kind]
        return write(email, account.company_name, f"{self.url}/{path}", **words)

    async def _claim(self) -> Due | None:
        now, until, claimed = self.clock.now(), self.clock.now() + LEASE, list[int]()

        async def read(db: AsyncSession) -> Due | None:
            row = (await db.execute(_due(now).with_for_update(of=WaitingMail, skip_locked=True))).first()
            if row is None:
                return None
            waiting, email, account, is_in_use = row
            claimed.append(waiting.id)
            waiting.due_at, waiting.attempts = until, waiting.attempts + 1
            return waiting, email, account, is_in_use

        async def give_back(_: Due | None) -> None:
            """Release the claim of a mail that was not sent."""
            again = update(WaitingMail).values(due_at=now, attempts=WaitingMail.attempts - 1)
            async with self.db.begin() as db:
                await db.execute(again.where(WaitingMail.id.in_(claimed), WaitingMail.due_at == until))

        return await claims.claim_in(self.db.begin(), read, give_back=give_back, seconds=LEASE.seconds)

    async def _fail(self, waiting: WaitingMail, reason: str) -> None:
        if waiting.attempts > len(WAITS):
            await self._change(delete(WaitingMail), waiting)
            self.count("given_up", reason)
        else:
            due_at = self.clock.now() + WAITS[waiting.attempts - 1]
            await self._change(update(WaitingMail).values(due_at=due_at), waiting)
            self.count("failed", reason)

    async def _change(self, statement: Delete | Update, waiting: WaitingMail) -> None:
        """Change a waiting mail, unless it was deleted meanwhile."""
        change = statement.where(WaitingMail.id == waiting.id)

        async def record() -> None:
            async with self.db.begin() as db:
                await db.execute(change)

        await claims.persist(record, LEASE.seconds)


def _due(now: datetime) -> Select[WaitingMail, str, Account, bool]:
    """Select the next mail. Mails with a link go first, because a person waits for them."""
    email = func.coalesce(User.email, Invitation.email)
    return (
        select(WaitingMail, email, Account, invitations.address_is_in_use())
        .outerjoin(User, User.id == WaitingMail.user_id)
        .outerjoin(Invitation, Invitation.id == WaitingMail.invitation_id)
        .join(Account, Account.id == WaitingMail.account_id)
        .where(WaitingMail.due_at <= now, WaitingMail.expires_at > now, User.removed_at.is_(None))
        .where(or_(WaitingMail.invitation_id.is_(None), invitations.is_upheld(now)))
        .order_by(WaitingMail.seed.is_(None), WaitingMail.due_at, WaitingMail.id)
        .limit(1)
    )
