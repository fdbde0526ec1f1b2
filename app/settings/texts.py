"""Checks of the settings that are texts."""

from collections.abc import Callable, Mapping
from email.utils import parseaddr

from app.settings.base_url import is_host
from app.settings.secret_key import LEAST_BYTES
from app.urls import split


def is_secret_key(text: str) -> bool:
    """Return whether a text is long enough that it cannot be guessed."""
    return len(text.encode()) >= LEAST_BYTES


def is_mail_server(text: str) -> bool:
    """Return whether a text is the address of a mail server."""
    try:
        parts = split(text)
        return parts.scheme in ("smtp", "smtps") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def is_mailbox(text: str) -> bool:
    """Return whether a text is a mail address, with or without a name before it."""
    name, _, domain = parseaddr(text)[1].rpartition("@")
    return bool(name) and is_host(domain)


def is_api_key(text: str) -> bool:
    """Return whether a text can be sent in a header as a key."""
    return bool(text) and text.isascii() and " " not in text


def is_stripe_key(text: str) -> bool:
    """Return whether a text is a key of Stripe that a server uses."""
    return text.startswith(("sk_", "rk_"))


def is_endpoint_secret(text: str) -> bool:
    """Return whether a text is the secret of an endpoint of Stripe."""
    return text.startswith("whsec_")


CHECKS: Mapping[str, Callable[[str], bool]] = {
    "host": is_host,
    "data": bool,
    "tls_cert": bool,
    "tls_key": bool,
    "mail_from": is_mailbox,
    "smtp_url": is_mail_server,
    "secret_key": is_secret_key,
    "ai_api_key": is_api_key,
    "stripe_secret_key": is_stripe_key,
    "stripe_webhook_secret": is_endpoint_secret,
    "highlevel_client_secret": is_api_key,
}
"""The check of each such setting, by its name."""
