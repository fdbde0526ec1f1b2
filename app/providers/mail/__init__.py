"""Mailers: an SMTP server, or a folder."""

from app.domain.accounts.mailer import Mailer
from app.providers.mail.folder import Folder
from app.providers.mail.smtp import Smtp
from app.settings import Settings

FOLDER = "mail"


def open_mail(settings: Settings) -> Mailer:
    """Return the mailer: the configured SMTP server, or else a folder in the data folder."""
    sender = settings.mail_from
    if settings.smtp_url is None:
        return Folder(settings.data / FOLDER, sender)
    return Smtp(settings.smtp_url.get_secret_value(), sender)
