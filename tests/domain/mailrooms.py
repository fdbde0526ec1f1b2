"""A mailroom whose clock is set by hand, and a mail server that can be down."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

from app.db.engine import Pool
from app.domain.accounts.mail_sender import MailSender
from app.domain.accounts.mailer import Mail, MailNotSent
from app.services import Services
from tests.domain.conftest import SetClock
from tests.factories.traps import open_transactions


@dataclass
class Post:
    """A mail server that takes mails, unless it is down; it notes which transactions are open meanwhile."""

    pool: Pool
    is_down: bool = False
    on_letter: Callable[[Mail], Awaitable[object]] | None = None
    sent: list[Mail] = field(default_factory=list)
    open_transactions: list[int] = field(default_factory=list)

    async def send(self, mail: Mail) -> None:
        self.open_transactions.append(await open_transactions(self.pool))
        if self.on_letter:
            await self.on_letter(mail)
        if self.is_down:
            raise MailNotSent("down for repairs")
        self.sent.append(mail)


@dataclass
class Room:
    """A mailroom, its server and what it counted."""

    mail_sender: MailSender
    post: Post
    clock: SetClock
    counted: list[tuple[str, str]]

    async def work(self) -> list[Mail]:
        """Send all that is due, and return what was sent so far."""
        while await self.mail_sender.due():
            await self.mail_sender.run()
        return self.post.sent


def open_room(services: Services) -> Room:
    """Open a mailroom, a minute from now."""
    clock, post = SetClock(services.clock.now() + timedelta(minutes=1)), Post(services.database.pool)
    counted: list[tuple[str, str]] = []

    def count(result: str, reason: str) -> None:
        counted.append((result, reason))

    url = "https://sms.example.com"
    mail_sender = MailSender(services.database.sessions, clock, services.authentication.tokens, post, url, count)
    return Room(mail_sender, post, clock, counted)
