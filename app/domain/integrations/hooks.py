"""The secret and the key of deliveries to inbound webhooks."""

import base64
import hmac
import secrets

import orjson

from app.domain.integrations.scheduling import BadSignature, Delivery
from app.domain.kernel.errors import InvalidJson

SECRET_HEADER = "x-webhook-secret"
KEY_HEADERS = ("webhook-id", "idempotency-key")

UNPROVEN = (
    "The secret of this inbound webhook is missing or wrong. Give it as the header X-Webhook-Secret, as a bearer "
    "token, or as the password of the URL."
)


def verify(secret: str, delivery: Delivery) -> None:
    """Raise `BadSignature` unless a delivery names the secret: as a header, a bearer token or a Basic password."""
    given = delivery.headers.get(SECRET_HEADER) or _authorization(delivery.headers.get("authorization", ""))
    if not hmac.compare_digest(given.encode(errors="replace"), secret.encode()):
        raise BadSignature("The secret does not fit.")


def check_body(delivery: Delivery) -> None:
    """Raise `InvalidJson` for a body that is not JSON."""
    try:
        orjson.loads(delivery.body)
    except orjson.JSONDecodeError as fault:
        raise InvalidJson(reason=str(fault)) from None


def key_of(delivery: Delivery) -> str:
    """Return the key by which repetitions are recognized: the sender's, or one that no other delivery has."""
    given = next(filter(None, (delivery.headers.get(name) for name in KEY_HEADERS)), "")
    return given or secrets.token_hex(16)


def _authorization(header: str) -> str:
    scheme, _, value = header.partition(" ")
    match scheme.lower():
        case "bearer":
            return value.strip()
        case "basic":
            return _password(value)
        case _:
            return ""


def _password(value: str) -> str:
    try:
        return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
    except ValueError:  # binascii.Error, or a character outside ASCII
        return ""
