"""Signed callbacks of the sandbox carrier."""

import secrets
import time
from datetime import UTC, datetime

import httpx2
import orjson

from app.domain.carriers.carrier import InboundMessage
from app.providers.carriers.sandbox.callbacks import Payload
from app.providers.carriers.sandbox.signature import HEADER, sign

AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def inbound(from_number: str, to_number: str, text: str) -> InboundMessage:
    """Return the body of an inbound callback."""
    return InboundMessage(f"sbx_in_{secrets.token_hex(8)}", from_number, to_number, text, AT)


async def call(
    http: httpx2.AsyncClient, secret: bytes, path: str, payload: Payload | bytes, **headers: str
) -> httpx2.Response:
    """Post a callback of the sandbox carrier, signed now."""
    body = payload if isinstance(payload, bytes) else orjson.dumps({"at": AT, **payload})
    signed = {"content-type": "application/json", HEADER: sign(secret, body, time.time()), **headers}
    return await http.post(path, content=body, headers=signed)
