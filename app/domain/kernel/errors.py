"""The base class and the general classes of errors. All subclasses of `DomainError` form the error catalogue."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

MAX_QUOTED = 100
"""The number of characters of a value that an error repeats."""


class DomainError(Exception):
    """An unexpected error of the service. Send the request again; `request_id` identifies it in the logs."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    message: ClassVar[str] = "An unexpected error of the service. Try again."
    about: ClassVar[str | None] = None
    """The field at fault, unless the error is raised with another."""
    quoted: ClassVar[tuple[str, ...]] = ()
    """The facts that callers have written; the message repeats at most `MAX_QUOTED` characters of each."""

    def __init__(self, *, field: str | None = None, **facts: object) -> None:
        """Format the message with `facts`; `field` names the argument or input field at fault."""
        shown = {name: shorten(facts[name]) for name in self.quoted if name in facts}
        super().__init__(self.message.format(field=field, **{**facts, **shown}))
        self.field: str | None = field or self.about
        self.facts = facts

    def rename(self, names: Mapping[str, str]) -> None:
        """Name the field at fault as another surface does, also at the start of the text.

        `names` has the name of each field of the contract, such as that of `contacts.ids`. A field whose members have
        names is called by the first of them.
        """
        field, text = self.field, str(self)
        if not field:
            return
        known = next((path for path in _enclosing(field) if path in names), None)
        if known is None:
            self.field = next((names[path] for path in names if path.startswith(f"{field}.")), field)
            return
        inside = field.removeprefix(known)
        self.field = name = names[known] + inside
        for before in (field, known.rpartition(".")[2] + inside):
            if text.startswith(f"{before} "):
                self.args = (f"{name} {text.removeprefix(f'{before} ')}",)
                return


def shorten(value: object) -> str:
    """Return a value as a text that an error may repeat."""
    text = str(value)
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 1]}…"


def _enclosing(field: str) -> Iterator[str]:
    """Yield a field and those that it is in: `steps[0].body`, `steps[0]` and `steps`."""
    yield field
    for place in reversed(range(len(field))):
        if field[place] in ".[":
            yield field[:place]


class InvalidInput(DomainError):
    """A value is missing, of the wrong type or outside its limits; the text names the field and the allowed values."""

    code = "invalid_input"
    status = 422
    message = "{reason}"

    def __init__(self, *, reason: str = "", field: str | None, one_of: Sequence[str] = ()) -> None:
        """Name the field at fault; None when no argument caused the error.

        `one_of` are fields of which a caller gives one, in place of a reason.
        """
        super().__init__(reason=reason or _one_of(one_of), field=field)
        self.one_of = one_of

    def rename(self, names: Mapping[str, str]) -> None:
        """Name the fields as another surface does, and leave out those that it lacks."""
        super().rename(names)
        if found := [names[path] for path in self.one_of if path in names]:
            self.args = (_one_of(found),)


def _one_of(names: Sequence[str]) -> str:
    return f"Give exactly one of {', '.join(names[:-1])} and {names[-1]}." if names else ""


class InvalidJson(DomainError):
    """The body is not the JSON object that the endpoint reads."""

    code = "invalid_json"
    status = 400
    message = "The body must be a JSON object: {reason}."


class InvalidRequest(DomainError):
    """The request is not valid HTTP: its head, its length or its parts. The connection is closed."""

    code = "invalid_request"
    status = 400
    message = "The request is not valid HTTP: {reason}."

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason=f"{reason[0].lower()}{reason[1:]}")


class RequestTimeout(DomainError):
    """The complete request did not arrive within the time limit. The connection is closed."""

    code = "request_timeout"
    status = 408
    message = "The request did not arrive in time. Send it again."


class HeadersTooLarge(DomainError):
    """The request line and headers exceed the limit of size or number. The connection is closed."""

    code = "headers_too_large"
    status = 431
    message = "The head of the request is larger than 32 KiB, or has more than 100 headers."


class InvalidHost(DomainError):
    """The service runs in development and serves its own machine only; the request named another host."""

    code = "invalid_host"
    status = 400
    message = (
        "This service runs in development and answers on loopback addresses only, not as {host}. "
        "To serve others, start it with MESSAGING_ENVIRONMENT=production and MESSAGING_BASE_URL."
    )


class Unauthenticated(DomainError):
    """No credential was sent, or an unknown, expired or revoked one."""

    code = "unauthenticated"
    status = 401
    message = "{reason} Send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."


class InsufficientScope(DomainError):
    """The key or token is valid, but lacks the scope that this operation needs."""

    code = "insufficient_scope"
    status = 403
    message = "This needs the scope {scope}. Use a key or an access token that has it."


class NotFound(DomainError):
    """The account has no record of that kind with that id, or the path has no endpoint."""

    code = "not_found"
    status = 404
    message = "No {kind} with {by} {id}."
    quoted = ("id",)

    def __init__(self, *, kind: str, id: object, by: str = "id") -> None:
        super().__init__(kind=kind, id=id, by=by)


class MethodNotAllowed(DomainError):
    """The path does not support this method; the `Allow` header lists the supported ones."""

    code = "method_not_allowed"
    status = 405
    message = "{path} does not support {method}. It supports {allowed}."
    quoted = ("path", "method")


class Conflict(DomainError):
    """The record already exists, or its state does not allow the change."""

    code = "conflict"
    status = 409
    message = "{reason}"


class BodyTooLarge(DomainError):
    """The body is larger than the limit of the endpoint."""

    code = "body_too_large"
    status = 413
    message = "The body is larger than {limit} bytes."


class UnsupportedMediaType(DomainError):
    """The endpoint does not accept the media type of the body."""

    code = "unsupported_media_type"
    status = 415
    message = "Send the body as {expected}, not as {given}."
    quoted = ("given",)


class RateLimited(DomainError):
    """Too many requests in a short time; `Retry-After` is the number of seconds to wait."""

    code = "rate_limited"
    status = 429
    message = "Too many requests. Try again in {seconds} s."


class Unavailable(DomainError):
    """A dependency is unreachable. Repeating the request with the same idempotency key is safe."""

    code = "unavailable"
    status = 503
    message = "The service is not available at this moment. Try again in a few seconds."


class QueryTimeout(DomainError):
    """A database statement of the request took too long and was canceled. Ask for less, or try again later.

    Repeating the request with the same idempotency key is safe.
    """

    code = "query_timeout"
    status = 503
    message = (
        "The database did not finish the request in time. Use a narrower filter or a smaller page, "
        "or try again in a few seconds."
    )


def catalogue(root: type[DomainError] = DomainError) -> dict[str, type[DomainError]]:
    """Return every error by its code; raise `LookupError` for a duplicate code."""
    found = {root.code: root}
    for child in root.__subclasses__():
        for code, error in catalogue(child).items():
            if found.setdefault(code, error) is not error:
                raise LookupError(f"{error.__name__} and {found[code].__name__} share the code {code}")
    return found
