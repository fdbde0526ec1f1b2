"""Errors of campaigns."""

from app.domain.kernel.errors import DomainError


class PreviewOutdated(DomainError):
    """The campaign, its audience or a setting of its texts has changed since that preview.

    Preview it again, then send with the new id.
    """

    code = "preview_outdated"
    status = 409
    about = "preview_id"
    message = "The campaign reached {was} contacts in that preview; now {change}. Preview it again."


class OverMaxCredits(DomainError):
    """The campaign costs more credits than its caller allowed. Nothing was sent or debited."""

    code = "over_max_credits"
    status = 422
    about = "max_credits"
    message = (
        "The campaign costs {credits} credits, more than max_credits allows ({limit}). "
        "Raise max_credits, or choose fewer contacts."
    )
