"""Reads the variables of an operation from an HTTP request."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from app.domain.kernel.errors import InvalidInput, UnsupportedMediaType, catalogue
from app.http.body import JSON, is_utf8, media_type_of, parse_object, read_body
from app.operations.arguments import Acceptor, Unacceptable, Unattested
from app.operations.document import Operation
from app.operations.surface import Rest
from app.operations.variables import Variable

MAX_BODY = 256 * 1024


class Places:
    """The source of each variable of an endpoint: the path, the headers, and the body or the query string."""

    def __init__(self, operation: Operation, rest: Rest) -> None:
        self.path = [operation.variables[name] for name in rest.placeholders]
        others = [variable for name, variable in operation.variables.items() if name not in rest.placeholders]
        members = [variable for variable in others if not variable.header]
        self.headers = {variable.header: variable for variable in others if variable.header}
        self.body: list[Variable] = members if rest.has_body else []
        self.query: list[Variable] = [] if rest.has_body else members
        self.forms = rest.forms


class Reader:
    """Reads the variables of one endpoint. Created once, at start."""

    def __init__(self, places: Places) -> None:
        self._path = Acceptor(places.path) if places.path else None
        self._query = Acceptor(places.query, forms=places.forms) if places.query else None
        self._body = Acceptor(places.body, forms=places.forms) if places.body else None
        self._headers = Acceptor(replace(variable, name=header) for header, variable in places.headers.items())
        self._names = {header: variable.name for header, variable in places.headers.items()}
        self._needs_headers = any(variable.required for variable in places.headers.values())
        self._sent_names = {header.lower().encode(): header for header in places.headers}

    async def read_body(self, request: Request) -> bytearray:
        """Return the body, if the endpoint accepts one; raise `BodyTooLarge`."""
        return await read_body(request, MAX_BODY) if self._body else bytearray()

    def __call__(self, request: Request, body: bytearray) -> dict[str, Any]:
        """Return the variables.

        Raises `InvalidJson`, `UnsupportedMediaType` or `InvalidInput`; before `InvalidInput`, the error of a missing
        attestation in a readable body.
        """
        try:
            variables: dict[str, Any] = {}
            if self._path:
                variables = self._path.texts({name: [text] for name, text in request.path_params.items()})
            if self._query:
                variables |= self._query.texts(read_query(request))
            if self._names:
                variables |= self._read_headers(request.scope["headers"])
            if self._body:
                variables |= self._body.values(read_json(request, body))
        except Unattested as fault:
            raise catalogue()[str(fault)]() from None
        except Unacceptable as fault:
            raise InvalidInput(reason=str(fault), field=fault.field) from None
        return variables

    def _read_headers(self, headers: Sequence[tuple[bytes, bytes]]) -> dict[str, Any]:
        """Return the variables of headers; of a header that was sent more than once, the first one counts."""
        known = self._sent_names
        sent = {known[key]: [value.decode("latin-1")] for key, value in reversed(headers) if key in known}
        if not sent and not self._needs_headers:
            return {}
        return {self._names[name]: value for name, value in self._headers.texts(sent).items()}


def read_query(request: Request) -> dict[str, list[str]]:
    """Return the values of the query string by key, in order."""
    texts: dict[str, list[str]] = {}
    if not (query := request.scope["query_string"]):
        return texts
    for key, text in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        texts.setdefault(key, []).append(text)
    return texts


def read_json(request: Request, body: bytearray) -> dict[str, Any]:
    """Return the JSON object of a body; an empty object for no body."""
    if not body:
        return {}
    content_type = request.headers.get("content-type") or JSON
    if not _is_json(media_type_of(content_type)) or not is_utf8(content_type):
        raise UnsupportedMediaType(expected=f"{JSON} in UTF-8", given=content_type)
    return parse_object(body)


def _is_json(media_type: str) -> bool:
    return media_type == JSON or (media_type.startswith("application/") and media_type.endswith("+json"))
