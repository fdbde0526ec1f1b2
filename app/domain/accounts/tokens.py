"""Tokens of sessions and mailed links; only their fingerprints are stored."""

import base64
import hmac
import secrets
from dataclasses import dataclass

TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Tokens:
    """Makes and recognises tokens, under one secret of the service's."""

    secret: bytes

    def make(self) -> str:
        """Return a new token of 256 random bits."""
        return secrets.token_urlsafe(TOKEN_BYTES)

    def fingerprint(self, token: str) -> bytes:
        """Return what is stored of a token: its HMAC-SHA256."""
        return self._digest("stored", token.encode())

    def of_link(self, seed: bytes) -> str:
        """Return the token of a mailed link, so that who mails it later can write it once more."""
        return _text(self._digest("link", seed))

    def of_form(self, cookie: str) -> str:
        """Return what a form must send with a cookie; a page of another site can send the cookie, and not know this."""
        return _text(self._digest("form", cookie.encode()))

    def of_browser(self, id: str, email: str) -> str:
        """Return what shows that a user signed in with a browser before."""
        return _text(self._digest("browser", f"{id}\0{email}".encode()))

    def _digest(self, purpose: str, value: bytes) -> bytes:
        return hmac.digest(self.secret, purpose.encode() + b"\0" + value, "sha256")


def _text(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
