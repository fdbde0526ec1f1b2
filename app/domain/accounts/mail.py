"""The port of what sends mail."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail to one person, in plain text and in HTML."""

    to: str
    subject: str
    text: str
    html: str


class MailNotSent(Exception):
    """No server took the mail; the text says why, in the server's words."""


class Mail(Protocol):
    """Sends letters."""

    async def send(self, letter: Letter) -> None:
        """Hand a letter over; raise `MailNotSent`."""
        ...
