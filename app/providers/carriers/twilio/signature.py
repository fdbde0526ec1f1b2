"""Twilio's signatures of callbacks: https://www.twilio.com/docs/usage/security.

`X-Twilio-Signature` is the base64 of an HMAC over the URL that Twilio called and, of a form, its sorted fields. Without
`X-Twilio-Webhooks-Signature-Settings` it is HMAC-SHA1 with the auth token; with it, the algorithm is named there, and
the key is a shared secret.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from app.domain.carriers.carrier import BadSignature, CallbackRequest

HEADER = "x-twilio-signature"
SETTINGS_HEADER = "x-twilio-webhooks-signature-settings"
FORM = "application/x-www-form-urlencoded"
SHA1, SHA256 = "HMAC_SHA1", "HMAC_SHA256"
DIGESTS: Mapping[str, str] = {SHA1: "sha1", SHA256: "sha256"}
MOST_FIELDS = 1000

_ORIGIN = re.compile(r"(?P<scheme>https?)://(?P<host>\[[^\]]*\]|[^/?#:]*)(?::[0-9]*)?(?P<rest>.*)", re.DOTALL)
_BODY_HASH = re.compile(r"[?&]bodySHA256=([0-9a-fA-F]{64})(?:&|$)")
_ALGORITHM = re.compile(r"(?:^|,)\s*algorithm=\s*([^\s,]+)")
_PORTS = {"https": 443, "http": 80}

Fields = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True, repr=False)
class Verifier:
    """Verifies callbacks by the auth token, and by the shared secret of signatures with SHA-256 if there is one."""

    auth_token: str
    webhook_secret: str | None = None

    def verify(self, request: CallbackRequest) -> Fields:
        """Return the fields of a signed form; raise `BadSignature`."""
        algorithm = _algorithm(request.headers.get(SETTINGS_HEADER, ""))
        secret = self.auth_token if algorithm == SHA1 else self.webhook_secret
        if algorithm not in DIGESTS or secret is None:
            raise BadSignature("the signature is of a kind that this connection has no secret for")
        fields = _signed_fields(request)
        given = request.headers.get(HEADER, "").encode()
        signed = [hmac.compare_digest(given, sign(secret, url, fields, algorithm)) for url in spellings(request.url)]
        if not any(signed):
            raise BadSignature("the signature is missing or does not fit the address and the body")
        return fields


def sign(secret: str, url: str, fields: Iterable[tuple[bytes, bytes]], algorithm: str = SHA1) -> bytes:
    """Return the signature of a call of a URL with a form; of several equal fields one is signed."""
    message = url.encode() + b"".join([key + value for key, value in sorted(set(fields))])
    return base64.b64encode(hmac.digest(secret.encode(), message, DIGESTS[algorithm]))


def spellings(url: str) -> tuple[str, ...]:
    """Return a URL as it is, without its port and with the default one: Twilio signs any of them."""
    parts = _ORIGIN.fullmatch(url)
    if parts is None:
        return (url,)
    scheme, host, rest = parts["scheme"], parts["host"], parts["rest"]
    return tuple(dict.fromkeys([url, f"{scheme}://{host}{rest}", f"{scheme}://{host}:{_PORTS[scheme]}{rest}"]))


def read_form(body: bytes) -> Fields:
    """Return the fields of a form as bytes; raise `BadSignature` for more than any callback has."""
    if body.count(b"&") >= MOST_FIELDS:
        raise BadSignature("the form has too many fields")
    pairs = [pair.partition(b"=") for pair in body.split(b"&") if pair]
    return [(_unquote(key), _unquote(value)) for key, _, value in pairs]


def _algorithm(settings: str) -> str:
    named = _ALGORITHM.search(settings)
    return named[1].upper() if named else SHA1


def _signed_fields(request: CallbackRequest) -> Fields:
    """Return the fields that the signature covers; any other body must have its hash in the signed URL."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM:
        return read_form(request.body)
    named = _BODY_HASH.search(request.url)
    if request.body and not (named and hmac.compare_digest(named[1].lower(), hashlib.sha256(request.body).hexdigest())):
        raise BadSignature("the signature does not cover the body")
    return []


def _unquote(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))
