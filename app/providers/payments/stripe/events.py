"""Signed events of Stripe: they are verified, and name the object that they are about."""

import hmac
from typing import Any

import orjson

TOLERANCE = 300
"""The most seconds between the time of a signature and its check."""

MAX_SIGNATURE = 2000
WITHOUT_OBJECT = frozenset({"invoice.upcoming", "invoice.deleted"})
"""Events about an invoice that Stripe does not have: one that it is going to write, and a draft that was deleted."""


def is_signed(secret: str, body: bytes, header: str, now: float) -> bool:
    """Return whether a header `t=<unix>,v1=<hex>` has the HMAC-SHA256 of the time, a dot and the body, and is recent.

    A header has one `v1` for each secret of the endpoint (docs.stripe.com, Verify webhook signatures manually).
    """
    parts = [part.strip().partition("=") for part in header[:MAX_SIGNATURE].split(",")]
    at = next((value for name, _, value in parts if name == "t"), "")
    if not (at.isascii() and at.isdigit()) or abs(now - int(at[:15])) > TOLERANCE:
        return False
    expected = hmac.digest(secret.encode(), at.encode() + b"." + body, "sha256").hex().encode()
    given = [value.encode(errors="replace") for name, _, value in parts if name == "v1"]
    return any(hmac.compare_digest(expected, each) for each in given)


def subject_of(body: bytes) -> dict[str, str]:
    """Return the texts of the object that an event is about; empty for a body that is no such event."""
    try:
        event = orjson.loads(body)
        about: dict[str, Any] = {} if event.get("type") in WITHOUT_OBJECT else event["data"]["object"]
        return {name: value for name, value in about.items() if isinstance(value, str)}
    except (orjson.JSONDecodeError, TypeError, KeyError, AttributeError):
        return {}
