"""Reads the requests of the protocol as far as their admission needs: their method, and the name of the tool."""

from dataclasses import dataclass
from typing import Any

import orjson
from starlette.responses import Response

from app.operations.json_schema import Json

PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR = -32700, -32600, -32603
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that names the object of a method."""

NO_ID = "The id of a request must be a string or an integer. A notification has no id."
"""The library would take a request with another id for a notification, and not answer it."""


class NotOneMessage(Exception):
    """A body is not one JSON-RPC message; `response` says so."""

    def __init__(self, code: int, reason: str, id: str | int | None = None, *, status: int = 400) -> None:
        error = {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": reason}}
        super().__init__(reason)
        self.response = Response(orjson.dumps(error), status, media_type="application/json")


@dataclass(frozen=True, slots=True)
class Asked:
    """A message: its method, empty for a response, the name that it has in its parameters, and the id of a request."""

    method: str = ""
    name: str | None = None
    id: str | int | None = None

    @property
    def subject(self) -> tuple[str, str | None]:
        """Return the method and the name."""
        return self.method, self.name


def read(body: bytes | bytearray) -> Asked:
    """Return the message of a body; raise `NotOneMessage`.

    A body that this parser does not read reaches no other one, which might read another method in it.
    """
    try:
        message = orjson.loads(body)
    except orjson.JSONDecodeError as fault:
        raise NotOneMessage(PARSE_ERROR, f"The body is not JSON: {fault}") from None
    if not isinstance(message, dict):
        raise NotOneMessage(INVALID_REQUEST, "The body must be one JSON-RPC message. Batches are not accepted.")
    return _asked(message)


def _asked(message: Json) -> Asked:
    method, params = message.get("method"), message.get("params")
    if not isinstance(method, str):
        return Asked()
    name: Any = params.get(NAMES.get(method, "")) if isinstance(params, dict) else None
    return Asked(method, name if isinstance(name, str) else None, _id_of(message) if "id" in message else None)


def _id_of(message: Json) -> str | int:
    id = message["id"]
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise NotOneMessage(INVALID_REQUEST, NO_ID)
    return id
