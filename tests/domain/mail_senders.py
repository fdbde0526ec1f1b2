"""A mail sender with a clock that tests set, and a mail server that can be down."""

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
class MailServer:
    """A mail server that accepts mails unless it is down, and counts the open transactions during each call."""

    pool: Pool
    is_down: bool = False
    on_mail: Callable[[Mail], Awaitable[object]] | None = None
    sent: list[Mail] = field(default_factory=list)
    open_transactions: list[int] = field(default_factory=list)

    async def send(self, mail: Mail) -> None:
        self.open_transactions.append(await open_transactions(self.pool))
        if self.on_mail:
            await self.on_mail(mail)
        if self.is_down:
            raise MailNotSent("down for repairs")
        self.sent.append(mail)


@dataclass
class SenderSetup:
    """A mail sender with its server, clock and counts."""

    mail_sender: MailSender
    server: MailServer
    clock: SetClock
    counted: list[tuple[str, str]]

    async def send_due(self) -> list[Mail]:
        """Send the due mails; return all mails sent so far."""
        while await self.mail_sender.due():
            await self.mail_sender.run()
        return self.server.sent


def set_up_sender(services: Services) -> SenderSetup:
    """Return a mail sender whose clock is a minute ahead."""
    clock, server = SetClock(services.clock.now() + timedelta(minutes=1)), MailServer(services.database.pool)
    counted: list[tuple[str, str]] = []

    def count(result: str, reason: str) -> None:
        counted.append((result, reason))

    url = "https://sms.example.com"
    mail_sender = MailSender(services.database.sessions, clock, services.authentication.tokens, server, url, count)
    return SenderSetup(mail_sender, server, clock, counted)
