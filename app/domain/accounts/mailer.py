"""The port to mail servers."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail to one person, in plain text and in HTML."""

    to: str
    subject: str
    text: str
    html: str


class MailNotSent(Exception):
    """No server accepted the mail; the text is the server's reason."""


class Mailer(Protocol):
    """Sends mails."""

    async def send(self, mail: Mail) -> None:
        """Send a mail; raise `MailNotSent`."""
        ...
