"""Builds RFC 5322 messages."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, make_msgid, parseaddr

from app.domain.accounts.mailer import Mail
from app.domain.kernel.clock import Clock


def enclose(mail: Mail, sender: str) -> EmailMessage:
    """Return a mail in text and HTML, marked as automatic so that auto-responders do not answer it."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = _address(mail.to)
    message["Subject"] = mail.subject
    message["Date"] = format_datetime(Clock().now())
    message["Message-ID"] = make_msgid(domain=parseaddr(sender)[1].rpartition("@")[2] or "localhost")
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    message.add_alternative(mail.html, subtype="html")
    return message


def _address(text: str) -> Address:
    """Return an address without decoding of encoded words."""
    name, _, domain = text.rpartition("@")
    return Address(username=name, domain=domain)
