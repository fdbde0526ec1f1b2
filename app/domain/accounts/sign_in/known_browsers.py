"""Known browsers: a signed cookie gives each its own count of sign-in attempts."""

import hmac
import re
import secrets

from app.domain.accounts.tokens import Tokens

ID = re.compile(r"[A-Za-z0-9_-]{22}")
ID_BYTES = 16
MAX_USERS = 5
"""Maximum number of users per browser; the one with the oldest sign-in is dropped first."""


def identify(tokens: Tokens, cookie: str, email: str) -> str:
    """Return the id of a browser that is known for an e-mail address; an empty text for any other."""
    id, *marks = cookie.split(".")
    own = tokens.of_browser(id, email)
    return id if any(hmac.compare_digest(own.encode(), mark.encode()) for mark in marks[:MAX_USERS]) else ""


def remember(tokens: Tokens, cookie: str, email: str) -> str:
    """Return the cookie that also marks the browser as known for this e-mail address."""
    id, *marks = cookie.split(".")
    if not ID.fullmatch(id):
        id = secrets.token_urlsafe(ID_BYTES)
        marks.clear()
    own = tokens.of_browser(id, email)
    return ".".join([id, own, *[mark for mark in marks if mark != own][: MAX_USERS - 1]])
