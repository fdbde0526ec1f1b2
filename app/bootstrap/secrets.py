"""Secrets and tokens that are derived from the secret key of the service."""

import hmac

from app.domain.accounts.tokens import Tokens
from app.settings import Settings, environment
from app.settings.secret_key import read_or_make


def sign_in_tokens(settings: Settings) -> Tokens:
    """Return the creator of session tokens and of the tokens of mailed links."""
    return Tokens(derive(settings, "sessions and mailed links"))


def oauth_tokens(settings: Settings) -> Tokens:
    """Return the creator of OAuth client secrets, codes and refresh tokens."""
    return Tokens(derive(settings, "oauth tokens"))


def derive(settings: Settings, purpose: str) -> bytes:
    """Return the secret for one purpose, derived from the service's secret key.

    In development the key is generated at the first start and stored in the data folder; in production it is required.
    Raises `MissingSecretKey` or `InvalidKeyFile`.
    """
    return hmac.digest(_secret_key(settings), purpose.encode(), "sha256")


def _secret_key(settings: Settings) -> bytes:
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value().encode()
    environment.check_secret_key(settings)
    return read_or_make(settings.data)
