"""Tokens of sessions and mailed links; only their fingerprints are stored."""

import base64
import hmac
import secrets
from dataclasses import dataclass

TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Tokens:
    """Makes and verifies tokens under one secret of the service."""

    secret: bytes

    def make(self) -> str:
        """Return a new token of 256 random bits."""
        return secrets.token_urlsafe(TOKEN_BYTES)

    def fingerprint(self, token: str) -> bytes:
        """Return the stored form of a token: its HMAC-SHA256."""
        return self._digest("stored", token.encode())

    def of_link(self, seed: bytes) -> str:
        """Return the token of a mailed link, which a retry of the mail derives again from the seed."""
        return _text(self._digest("link", seed))

    def of_form(self, cookie: str) -> str:
        """Return the CSRF token of a form for a cookie; another site can send the cookie but cannot read this token."""
        return _text(self._digest("form", cookie.encode()))

    def of_browser(self, id: str, email: str) -> str:
        """Return the mark that a browser is known for an e-mail address."""
        return _text(self._digest("browser", f"{id}\0{email}".encode()))

    def _digest(self, purpose: str, value: bytes) -> bytes:
        return hmac.digest(self.secret, purpose.encode() + b"\0" + value, "sha256")


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
