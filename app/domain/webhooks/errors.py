"""Errors of webhook subscriptions."""

from app.domain.kernel.errors import DomainError


class InvalidUrl(DomainError):
    """The URL cannot be posted to: it is malformed, not https, or points to an address that is not public."""

    code = "invalid_url"
    status = 422
    about = "target_url"
    message = "{reason}"


class UnknownEvent(DomainError):
    """The event does not exist or cannot be subscribed to; the message lists those that can."""

    code = "unknown_event"
    status = 422
    message = "There is no event {event}. Known events: {known}."
    quoted = ("event",)
