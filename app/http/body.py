"""Request bodies: size limit, media type, charset, JSON and forms."""

import re
from typing import Any
from urllib.parse import parse_qsl

import orjson
from starlette.requests import ClientDisconnect, Request

from app.domain.kernel.errors import BodyTooLarge, InvalidJson

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"

_CHARSET = re.compile(r"charset=\"?([^\s\";]*)", re.IGNORECASE)
_KINDS = {list: "an array", str: "a string", int: "a number", float: "a number", bool: "a boolean", type(None): "null"}


async def read_body(request: Request, limit: int) -> bytearray:
    """Return the body; raise `BodyTooLarge` as soon as it exceeds `limit` bytes, and `ClientDisconnect`."""
    body = bytearray()
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body += message.get("body", b"")
        if len(body) > limit:
            raise BodyTooLarge(limit=limit)
        if not message.get("more_body"):
            return body


def media_type_of(content_type: str) -> str:
    """Return the media type of a `Content-Type` header, in lower case and without its parameters."""
    return content_type.partition(";")[0].strip().lower()


def is_utf8(content_type: str) -> bool:
    """Return whether a `Content-Type` header names UTF-8 or no charset."""
    charset = _CHARSET.search(content_type.partition(";")[2])
    return charset is None or charset[1].lower() in ("utf-8", "utf8")


def parse_json(text: bytes | bytearray | str) -> Any:
    """Return a JSON value; raise `InvalidJson`."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as fault:
        raise InvalidJson(reason=str(fault)) from None


def parse_object(text: bytes | bytearray) -> dict[str, Any]:
    """Return a JSON object; raise `InvalidJson`."""
    value = parse_json(text)
    if not isinstance(value, dict):
        raise InvalidJson(reason=f"this is {_KINDS[type(value)]}")
    return value


def parse_form(text: bytes | bytearray) -> list[tuple[str, str]]:
    """Return the urlencoded fields in order; NUL and invalid UTF-8 become U+FFFD."""
    fields = parse_qsl(text.decode(errors="replace"), keep_blank_values=True, errors="replace")
    return [(name, value.replace("\x00", "\ufffd")) for name, value in fields]
