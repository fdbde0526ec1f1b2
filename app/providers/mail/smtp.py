"""Sends mails over SMTP."""

from urllib.parse import SplitResult, unquote

import aiosmtplib

from app.domain.accounts.mailer import Mail, MailNotSent
from app.providers.mail.envelope import enclose
from app.urls import UnsafeUrl, split

PORTS = {"smtp": 587, "smtps": 465}
TIMEOUT_SECONDS = 20.0


class InvalidMailServer(Exception):
    """The URL of the mail server is invalid."""


class Smtp:
    """Sends each mail over a new connection.

    `smtps://` uses TLS from the start; `smtp://` uses STARTTLS if the server offers it, and requires it for a password.
    """

    def __init__(self, url: str, sender: str) -> None:
        parts = _split(url)
        self._sender = sender
        self._host = parts.hostname
        self._port = parts.port or PORTS[parts.scheme]
        self._is_tls = parts.scheme == "smtps"
        self._username = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None

    async def send(self, mail: Mail) -> None:
        """Hand a mail to the server; raise `MailNotSent`."""
        try:
            await self._hand_over(mail)
        except (aiosmtplib.SMTPException, OSError, ValueError) as problem:
            raise MailNotSent(f"{self._host}:{self._port}: {problem}") from problem

    async def _hand_over(self, mail: Mail) -> None:
        message = enclose(mail, self._sender)
        client = aiosmtplib.SMTP(
            hostname=self._host,
            port=self._port,
            username=self._username,
            password=self._password,
            use_tls=self._is_tls,
            start_tls=True if self._username and not self._is_tls else None,
            timeout=TIMEOUT_SECONDS,
        )
        async with client:
            await client.send_message(message)


def _split(url: str) -> SplitResult:
    try:
        parts = split(url)
    except UnsafeUrl:
        parts = None
    if parts is None or parts.scheme not in PORTS or not parts.hostname:
        raise InvalidMailServer("MESSAGING_SMTP_URL must look like smtp://user:password@mail.example.com:587.")
    return parts
