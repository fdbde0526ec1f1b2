"""Why a send is refused before anything was debited."""

from app.domain.kernel.errors import DomainError


class ConsentNotAttested(DomainError):
    """The sender did not certify that the recipient gave prior express written consent (47 CFR 64.1200(f)(9))."""

    code = "api_consent_attested_required"
    status = 403
    message = (
        "Set consent_attested to true to certify that the recipient has given prior express written consent to be "
        "texted."
    )


class MessageTooLong(DomainError):
    """The message has more characters than the API takes, or more segments than the carrier does."""

    code = "message_too_long"
    status = 422
    message = "The message has {size} {unit}; at most {limit} can be sent. Shorten it or send it in two."


class NoSender(DomainError):
    """The account has no active number to send from."""

    code = "no_sending_number"
    status = 422
    message = "The account has no active phone number to send from. Add one first."


class AccountSuspended(DomainError):
    """The account may not send at this time."""

    code = "account_suspended"
    status = 403
    message = "This account is suspended and cannot send. Contact support."
