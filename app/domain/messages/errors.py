"""Errors that refuse a send."""

from app.domain.kernel.errors import DomainError


class ConsentNotAttested(DomainError):
    """The sender did not certify that the recipient gave prior express written consent (47 CFR 64.1200(f)(9))."""

    code = "api_consent_attested_required"
    status = 403
    about = "consent_attested"
    message = (
        "Set consent_attested to true to certify that the recipient has given prior express written consent to be "
        "texted."
    )


class MessageTooLong(DomainError):
    """The message has more characters than the API accepts, or more segments than the carrier accepts."""

    code = "message_too_long"
    status = 422
    about = "body"
    message = "The message has {size} {unit}; at most {limit} can be sent. Shorten it or send it in two."


class NoSender(DomainError):
    """The account has no active number to send from."""

    code = "no_sending_number"
    status = 422
    message = "The account has no active phone number to send from. Add one first."


class NumberReleased(DomainError):
    """A text was not sent, because its sending number was released or moved to another account after its acceptance.

    It does not leave from another number: its recipient would not know the sender. Its credits were refunded.
    """

    code = "number_released"
    status = 422
    message = "The sending number {number} is no longer an active number of the account."


class NumberBusy(DomainError):
    """Too many texts wait for the pace of the sending number. Nothing was accepted or debited.

    `Retry-After` is the least number of seconds after which a text can leave.
    """

    code = "number_busy"
    status = 429
    message = "The sending number has texts for at least {seconds} s more. Try again then, or send from another number."


class CarrierRefused(DomainError):
    """The carrier refused the message, and its credits were refunded. The text gives the reason and what to do."""

    code = "carrier_refused"
    status = 422
    message = "Message {id} was not sent ({code}). {reason} Its credits were refunded."


class CarrierTimeout(DomainError):
    """The carrier did not answer in time and may have the message: sending it again could deliver it twice.

    The service queries the carrier, then records the message as sent, sends it or refunds it. A message that is still
    unknown after an hour is recorded as sent and `unconfirmed`, without a refund, until the carrier reports on it: see
    the message log. Repeating the request with the same idempotency key is safe and returns the current result.
    """

    code = "carrier_timeout"
    status = 504
    message = (
        "The carrier has not confirmed message {id} yet. Do not send it again: the service queries the carrier, and "
        "sends or refunds it. The message log shows its status."
    )


class ConversationHasChanged(DomainError):
    """Another user answered or changed the conversation after the version that the sender saw; nothing was sent."""

    code = "conversation_changed"
    status = 409
    about = "expected_version"
    message = "{reason} Without expected_version the text is sent in any case."
