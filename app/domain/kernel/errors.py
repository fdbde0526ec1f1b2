"""What the service may refuse. The subclasses are the error catalogue, wherever they are written."""

from typing import ClassVar


class DomainError(Exception):
    """Something went wrong on our side; the request can be sent again, and `request_id` finds it in our logs."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500
    message: ClassVar[str] = "Something went wrong on our side."
    about: ClassVar[str | None] = None
    """The field at fault, unless the error is raised with another."""

    def __init__(self, *, field: str | None = None, **facts: object) -> None:
        """Keep the facts of the message; `field` names the argument or input field at fault."""
        super().__init__(self.message.format(field=field, **facts))
        self.field = field or self.about
        self.facts = facts

    def rename_field(self, name: str) -> None:
        """Call the field at fault by its name on another surface, in the text too where that begins with it."""
        before, text = f"{self.field} ", str(self)
        if text.startswith(before):
            self.args = (f"{name} {text.removeprefix(before)}",)
        self.field = name


class InvalidInput(DomainError):
    """A value is missing, of the wrong type or outside its limits; the text names the field and what it takes."""

    code = "invalid_input"
    status = 422
    message = "{reason}"

    def __init__(self, *, reason: str = "", field: str | None) -> None:
        """Name the field at fault; None is for what no argument has caused."""
        super().__init__(reason=reason, field=field)


class InvalidJson(DomainError):
    """The body is not the JSON object that the endpoint reads."""

    code = "invalid_json"
    status = 400
    message = "The body must be a JSON object: {reason}."


class InvalidRequest(DomainError):
    """The request is no sound HTTP: its head, its length or its parts. The connection is closed."""

    code = "invalid_request"
    status = 400
    message = "The request was not understood: {reason}."

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason=f"{reason[0].lower()}{reason[1:]}")


class RequestTimeout(DomainError):
    """The request did not arrive whole in the time that it may take. The connection is closed."""

    code = "request_timeout"
    status = 408
    message = "The request did not arrive in time. Send it again."


class HeadersTooLarge(DomainError):
    """The request line and the headers are larger, or more, than the service reads. The connection is closed."""

    code = "headers_too_large"
    status = 431
    message = "The head of the request is larger than 32 KiB, or has more than 100 headers."


class InvalidHost(DomainError):
    """The service runs in development and serves its own machine only; the request was for another host."""

    code = "invalid_host"
    status = 400
    message = (
        "This service runs in development and answers on loopback addresses only, not as {host}. "
        "To serve others, start it with MESSAGING_ENVIRONMENT=production and MESSAGING_BASE_URL."
    )


class Unauthenticated(DomainError):
    """No key was sent, or one that is unknown, expired or revoked."""

    code = "unauthenticated"
    status = 401
    message = "{reason} Send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'."


class InsufficientScope(DomainError):
    """The key or token is good, but it was not given the scope that this operation needs."""

    code = "insufficient_scope"
    status = 403
    message = "This needs the scope {scope}. Use a key or an access token that has it."


class NotFound(DomainError):
    """No record of that kind and id belongs to the account, or no endpoint stands at that path."""

    code = "not_found"
    status = 404
    message = "No {kind} with {by} {id}."

    def __init__(self, *, kind: str, id: object, by: str = "id") -> None:
        super().__init__(kind=kind, id=id, by=by)


class MethodNotAllowed(DomainError):
    """The path exists, but not with this method; the `Allow` header names those it takes."""

    code = "method_not_allowed"
    status = 405
    message = "{path} does not take {method}. It takes {allowed}."


class Conflict(DomainError):
    """The record exists already, or stands in a state that does not allow the change."""

    code = "conflict"
    status = 409
    message = "{reason}"


class BodyTooLarge(DomainError):
    """The body is larger than the endpoint reads."""

    code = "body_too_large"
    status = 413
    message = "The body is larger than {limit} bytes."


class UnsupportedMediaType(DomainError):
    """The body is not of the type that the endpoint reads."""

    code = "unsupported_media_type"
    status = 415
    message = "Send the body as {expected}, not as {given}."


class RateLimited(DomainError):
    """Too many requests in a short time; `Retry-After` says in how many seconds to try again."""

    code = "rate_limited"
    status = 429
    message = "Too many requests. Try again in {seconds} seconds."


class Unavailable(DomainError):
    """A part that the request needs cannot be reached now. Repeat a request safely with the same idempotency key."""

    code = "unavailable"
    status = 503
    message = "The service is not available at this moment. Try again in a few seconds."


def catalogue(root: type[DomainError] = DomainError) -> dict[str, type[DomainError]]:
    """Return every error by its code; raise `LookupError` where two share one."""
    found = {root.code: root}
    for child in root.__subclasses__():
        for code, error in catalogue(child).items():
            if found.setdefault(code, error) is not error:
                raise LookupError(f"{error.__name__} and {found[code].__name__} share the code {code}")
    return found
