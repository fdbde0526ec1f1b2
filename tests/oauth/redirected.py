"""Parameters of redirects to an application."""

import httpx2

from tests.oauth.applications import (
    REDIRECT,
    query_of,
)

ANSWERED = "This page was already used, or has expired. Go back to the application and connect it again."
WRONG = "The e-mail address or the password is wrong."


def faults(answer: httpx2.Response) -> dict[str, str]:
    """Return the parameters of a redirect; fail unless it goes to the application's address."""
    assert answer.status_code == 302, answer.text
    assert answer.headers["location"].startswith(f"{REDIRECT}?")
    return query_of(answer)
