"""Why a subscription is refused."""

from app.domain.kernel.errors import DomainError


class InvalidUrl(DomainError):
    """The URL cannot be posted to: it is malformed, not https, or points to an address that is not public."""

    code = "invalid_url"
    status = 422
    about = "target_url"
    message = "{reason}"


class UnknownEvent(DomainError):
    """No event of that name can be subscribed to; the text lists those that can."""

    code = "unknown_event"
    status = 422
    message = "There is no event {event}. Known events: {known}."
