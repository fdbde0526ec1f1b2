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
    """No server took the mail; the text says why, in the server's words."""


class Mailer(Protocol):
    """Sends mails."""

    async def send(self, mail: Mail) -> None:
        """Send a mail; raise `MailNotSent`."""
        ...
