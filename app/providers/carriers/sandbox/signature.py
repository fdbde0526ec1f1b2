"""Signature of the sandbox's callbacks: `X-Sandbox-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`."""

import hmac
import re
from datetime import UTC, datetime

from app.domain.carriers.carrier import BadSignature, StaleSignature

HEADER = "x-sandbox-signature"
TOLERANCE = 300

_FORM = re.compile(r"t=([0-9]{1,11}),v1=([0-9a-f]{64})")


def sign(secret: bytes, body: bytes, now: float) -> str:
    """Return the value of the header for a body sent at `now`, in seconds since 1970."""
    moment = int(now)
    return f"t={moment},v1={_digest(secret, moment, body)}"


def read_time(header: str) -> datetime | None:
    """Return the time that a header states; None for one that is not of its form."""
    parts = _FORM.fullmatch(header)
    return datetime.fromtimestamp(int(parts[1]), UTC) if parts else None


def verify(secret: bytes, body: bytes, header: str, now: float) -> None:
    """Raise `BadSignature` unless the header signs this body, and `StaleSignature` unless within 300 s of `now`."""
    parts = _FORM.fullmatch(header)
    if parts is None:
        raise BadSignature("the signature is missing or not of the form t=...,v1=...")
    moment = int(parts[1])
    if not hmac.compare_digest(parts[2], _digest(secret, moment, body)):
        raise BadSignature("the signature does not fit the body")
    if abs(now - moment) > TOLERANCE:
        raise StaleSignature(f"the signature is more than {TOLERANCE} seconds away from the time of this machine")


def _digest(secret: bytes, moment: int, body: bytes) -> str:
    return hmac.digest(secret, b"%d.%s" % (moment, body), "sha256").hex()
