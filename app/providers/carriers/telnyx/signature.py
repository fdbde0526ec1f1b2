"""Telnyx's signature of callbacks: Ed25519 of the time, `|` and the body, at most 300 seconds old."""

import base64
import binascii
import re
from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from app.domain.carriers.carrier import BadSignature, CallbackRequest, StaleSignature

HEADER, TIME_HEADER = "telnyx-signature-ed25519", "telnyx-timestamp"
TOLERANCE = 300
MOMENT = re.compile("[0-9]{1,11}")


def read_key(key: str) -> Ed25519PublicKey:
    """Return the public key of an account, given in base64; raise `ValueError`."""
    return Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))


def signing_time(request: CallbackRequest) -> datetime | None:
    """Return the time of the carrier's clock in the headers; None where it is missing or no time."""
    moment = request.headers.get(TIME_HEADER, "")
    return datetime.fromtimestamp(int(moment), UTC) if MOMENT.fullmatch(moment) else None


def verify(key: Ed25519PublicKey, request: CallbackRequest, now: float) -> None:
    """Raise `BadSignature` unless the request is signed, and `StaleSignature` unless within 300 s of `now`.

    `now` is in seconds since 1970.
    """
    moment = request.headers.get(TIME_HEADER, "")
    if not MOMENT.fullmatch(moment):
        raise BadSignature("the time of the signature is missing or no number")
    try:
        signature = base64.b64decode(request.headers.get(HEADER, ""), validate=True)
        key.verify(signature, moment.encode() + b"|" + request.body)
    except (binascii.Error, ValueError, InvalidSignature):
        raise BadSignature("the signature is missing or does not fit the body") from None
    if abs(now - int(moment)) > TOLERANCE:
        raise StaleSignature(f"the signature is more than {TOLERANCE} seconds away from the time of this machine")
