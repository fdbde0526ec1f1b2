"""Errors of texts that may not leave now, and of rules of quiet hours."""

from datetime import datetime

from app.domain.kernel.errors import DomainError


class QuietHours(DomainError):
    """The recipient's local time is outside the hours in which such texts may leave, and the send cannot wait.

    `not_before` is the next time at which it may; null where there is none within two weeks.
    """

    code = "quiet_hours"
    status = 422
    not_before: datetime | None = None
    message = (
        "Such texts may not leave now: it is outside the hours of the rule {rule} in a time zone of the recipient. "
        "The next time is {until}."
    )


class FrequencyCap(DomainError):
    """The recipient has got the maximum number of such texts in the period of a rule, and the send cannot wait.

    `not_before` is the time at which the next one may leave.
    """

    code = "frequency_cap"
    status = 422
    not_before: datetime | None = None
    message = "The recipient has got all texts that the rule {rule} allows for now. The next may leave at {until}."


class BelowLegalMinimum(DomainError):
    """A rule of an account would allow more than that of the law, and the law was not overridden with a reason."""

    code = "below_legal_minimum"
    status = 422
    message = "{reason} Make it stricter; or, to override the law, set overrides_law and give the reason."
