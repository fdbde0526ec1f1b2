"""Mails as their readers get them, from the folder that is used without a mail server."""

import email
import re
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import cast

from app.bootstrap import open_mail_sender
from app.services import Services

LINK = re.compile(r"^http://127\.0\.0\.1:8000(/password/\S+)$", re.M)


async def deliver(services: Services) -> list[EmailMessage]:
    """Send the due mails; return every mail of the folder, oldest first."""
    mail_sender = open_mail_sender(services)
    while await mail_sender.due():
        await mail_sender.run()
    files = sorted((services.settings.data / "mail").glob("*.eml"))
    return [read(path) for path in files]


def read(path: Path) -> EmailMessage:
    return cast(EmailMessage, email.message_from_bytes(path.read_bytes(), policy=default))


def text(mail: EmailMessage, kind: str = "plain") -> str:
    part = mail.get_body((kind,))
    assert part
    return part.get_content().replace("\r\n", "\n")


def link(mail: EmailMessage) -> str:
    """Return the path of the link in a mail; both parts of the mail must have it."""
    [path] = LINK.findall(text(mail))
    assert f'href="http://127.0.0.1:8000{path}"' in text(mail, "html")
    return path
