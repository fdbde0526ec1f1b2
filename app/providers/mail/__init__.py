"""Mailers: an SMTP server, or a folder."""

from pathlib import Path

from app.domain.accounts.mailer import Mailer
from app.providers.mail.folder import Folder
from app.providers.mail.smtp import Smtp
from app.settings import Settings


def open_mail(settings: Settings) -> Mailer:
    """Return the mailer: the configured SMTP server, or else a folder in the data folder."""
    sender = settings.mail_from
    if settings.smtp_url:
        return Smtp(settings.smtp_url.get_secret_value(), sender)
    return Folder(Path(settings.mail_folder or ""), sender)
