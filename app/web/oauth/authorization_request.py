"""Authorization server requests in Authlib's form."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from authlib.oauth2.rfc6749 import InvalidRequestError, OAuth2Payload, OAuth2Request
from starlette.requests import Request

from app.domain.kernel.errors import BodyTooLarge
from app.http.body import FORM, media_type_of, parse_form, read_body

MAX_BODY = 64 * 1024
REPEATABLE = frozenset({"resource"})
"""Parameters that may be repeated (RFC 8707, 2)."""

Parameters = dict[str, list[str]]


class Payload(OAuth2Payload):
    """The parameters of a request. One without a value is ignored (RFC 6749, 3.1 and 3.2)."""

    def __init__(self, parameters: Parameters) -> None:
        self._lists = {name: values for name, values in parameters.items() if any(values)}
        self._data = {name: values[0] for name, values in self._lists.items()}

    @property
    def data(self) -> dict[str, str]:
        """Return the first value of each parameter."""
        return self._data

    @property
    def datalist(self) -> Mapping[str, list[str]]:  # pyrefly: ignore[bad-override]
        """Return every value of each parameter."""
        return self._lists


class Asked(OAuth2Request):
    """A request to the authorization server.

    `uri` is the public URL of the endpoint, not the internal one behind a proxy, because Authlib requires https or
    loopback. `scopes` and `resource` are derived from the parameters.
    """

    def __init__(self, method: str, uri: str, parameters: Parameters, headers: Mapping[str, str] | None = None) -> None:
        # Authlib's third positional argument is the body.
        super().__init__(method, uri, headers=headers or {})
        self.payload: Any = Payload(parameters)
        self.client: Any = None
        self.user: Any = None
        self.scopes: frozenset[str] = frozenset()
        self.resource = ""

    @property
    def form(self) -> dict[str, str]:
        """Return the parameters of the body."""
        return self.payload.data

    @property
    def resources(self) -> Sequence[str]:
        """Return all `resource` parameters."""
        return self.payload.datalist.get("resource", [])

    def query(self) -> str:
        """Return the parameters as a query string."""
        return urlencode(self.payload.datalist, doseq=True)

    def find_repeated(self) -> str | None:
        """Return a repeated parameter that must not be repeated."""
        lists: Mapping[str, list[str]] = self.payload.datalist
        return next((name for name, values in lists.items() if len(values) > 1 and name not in REPEATABLE), None)


def read_query(request: Request) -> Parameters:
    """Return the parameters of a query string."""
    return _parse(request.scope["query_string"])


async def read_form(request: Request, uri: str) -> Asked:
    """Return the request of a form; raise `InvalidRequestError`."""
    if media_type_of(request.headers.get("content-type", "")) != FORM:
        raise InvalidRequestError(f"Send the parameters as {FORM}.")
    asked = Asked(request.method, uri, _parse(await read_limited(request)), request.headers)
    if asked.find_repeated():
        raise InvalidRequestError("A parameter was sent more than once.")
    return asked


async def read_limited(request: Request) -> bytearray:
    """Return the body; raise `InvalidRequestError` above 64 KiB."""
    try:
        return await read_body(request, MAX_BODY)
    except BodyTooLarge:
        raise InvalidRequestError("The body is too large.") from None


def _parse(text: bytes | bytearray) -> Parameters:
    parameters: Parameters = {}
    for name, value in parse_form(text):
        parameters.setdefault(name, []).append(value)
    return parameters
