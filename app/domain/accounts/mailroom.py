"""The mailroom: sends the links that wait to be mailed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Select, select, update
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.domain.accounts import letters
from app.domain.accounts.mail import Letter, Mail, MailNotSent
from app.domain.accounts.models import Account, LinkPurpose, PasswordLink, User
from app.domain.accounts.tokens import Tokens
from app.domain.kernel.clock import Clock

LEASE = timedelta(minutes=2)
WAITS = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1800))
"""How long a mail waits after each failure; after the last one it is given up."""

LETTERS: dict[str, Callable[[str, str, str], Letter]] = {
    LinkPurpose.invitation: letters.invitation,
    LinkPurpose.reset: letters.reset,
}

Due = tuple[PasswordLink, User, Account]


@dataclass(frozen=True, slots=True)
class Mailroom:
    """Sends one mail at a time, with no transaction open while it does.

    `url` is where the links lead, `count` is told `sent`, `failed` or `given_up`, with the reason for the log.
    """

    db: async_sessionmaker[AsyncSession]
    clock: Clock
    tokens: Tokens
    mail: Mail
    url: str
    count: Callable[[str, str], None]

    async def run(self) -> bool:
        """Send what has been due longest; return whether there was anything."""
        due = await self._claim()
        if due is None:
            return False
        link, user, account = due
        try:
            await self.mail.send(self._write(link, user, account))
        except MailNotSent as failure:
            await self._fail(link, str(failure))
        else:
            await self._update(link, seed=None, mail_due_at=None)
            self.count("sent", "")
        return True

    async def due(self) -> bool:
        """Tell whether a mail is due."""
        async with self.db() as db:
            return (await db.scalars(_due(self.clock.now()).with_only_columns(PasswordLink.id))).first() is not None

    def _write(self, link: PasswordLink, user: User, account: Account) -> Letter:
        url = f"{self.url}/password/{self.tokens.of_link(link.seed or b'')}"
        return LETTERS[link.purpose](user.email, account.company_name, url)

    async def _claim(self) -> Due | None:
        now = self.clock.now()
        async with self.db.begin() as db:
            row = (await db.execute(_due(now).with_for_update(of=PasswordLink, skip_locked=True))).first()
            if row is None:
                return None
            link, user, account = row
            link.mail_due_at, link.mail_attempts = now + LEASE, link.mail_attempts + 1
        return link, user, account

    async def _fail(self, link: PasswordLink, reason: str) -> None:
        if link.mail_attempts > len(WAITS):
            await self._update(link, seed=None, mail_due_at=None)
            self.count("given_up", reason)
        else:
            await self._update(link, mail_due_at=self.clock.now() + WAITS[link.mail_attempts - 1])
            self.count("failed", reason)

    async def _update(self, link: PasswordLink, **values: datetime | None) -> None:
        """Change a link that still has its seed: one that was used meanwhile came by the mail, and needs no other."""
        unused = (PasswordLink.id == link.id, PasswordLink.seed.is_not(None))
        async with self.db.begin() as db:
            await db.execute(update(PasswordLink).where(*unused).values(**values))


def _due(now: datetime) -> Select[PasswordLink, User, Account]:
    return (
        select(PasswordLink, User, Account)
        .join(User, User.id == PasswordLink.user_id)
        .join(Account, Account.id == PasswordLink.account_id)
        .where(PasswordLink.mail_due_at <= now, PasswordLink.expires_at > now)
        .order_by(PasswordLink.mail_due_at)
        .limit(1)
    )
