"""Writes mails to a folder, for development."""

import asyncio
from pathlib import Path

import structlog

from app.domain.accounts.mailer import Mail, MailNotSent
from app.domain.kernel.clock import Clock
from app.providers.mail.envelope import enclose

log = structlog.get_logger(__name__)


class Folder:
    """Writes each mail to a file that only its owner can read, and logs its path."""

    def __init__(self, folder: Path, sender: str) -> None:
        self._folder = folder
        self._sender = sender

    async def send(self, mail: Mail) -> None:
        """Write a mail; raise `MailNotSent` when the folder is not writable."""
        try:
            path = await asyncio.to_thread(self._write, mail)
        except (OSError, ValueError) as problem:
            raise MailNotSent(str(problem)) from problem
        log.info("mail_written", subject=mail.subject, path=str(path))

    def _write(self, mail: Mail) -> Path:
        message = enclose(mail, self._sender)
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder.absolute() / f"{Clock().now():%Y%m%d-%H%M%S-%f}.eml"
        path.touch(mode=0o600)
        path.write_bytes(bytes(message))
        return path
