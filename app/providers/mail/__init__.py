"""Ways to send mail: an SMTP server, or a folder where it can be read."""

from app.domain.accounts.mailer import Mailer
from app.providers.mail.folder import Folder
from app.providers.mail.smtp import Smtp
from app.settings import Settings

FOLDER = "mail"


def open_mail(settings: Settings) -> Mailer:
    """Return what sends mail: the SMTP server that the settings name, or else a folder beside the data."""
    sender = settings.mail_from
    if settings.smtp_url is None:
        return Folder(settings.data / FOLDER, sender)
    return Smtp(settings.smtp_url.get_secret_value(), sender)
