"""The states, directions, alphabets and reasons of failure of messages, as the contract shows them."""

import enum
from typing import cast

from app.domain.kernel.sms_parts import Encoding
from app.domain.messages import failures
from app.domain.messages.models import Attestation, Direction, MessageStatus
from app.graphql.core.enums import describe

describe(
    Direction,
    "The direction of a message.",
    {"outbound": "From the account to a contact.", "inbound": "From a contact to the account."},
)
describe(
    MessageStatus,
    "The state of a message.",
    {
        "pending": "Accepted and debited, and not yet handed to the carrier.",
        "sent": "The carrier has accepted it.",
        "delivered": "It was delivered.",
        "failed": "Not delivered; its credits were refunded.",
        "received": "It came in from a contact.",
    },
)

describe(
    Attestation,
    "The way in which a sender certifies that the recipient gave prior express written consent to be texted.",
    {
        "api": "For this text, by asking for it.",
        "automation": "For all texts of an automation platform, by connecting it.",
        "booking": "For the texts about a booking, as the attendee asked for them in the booking form.",
        "crm": "For all texts that a CRM sends, by connecting it.",
        "enrollment": "For all texts of a drip sequence, by enrolling the contact.",
        "campaign": "For all texts of a campaign, by sending it.",
    },
)
describe(
    Encoding,
    "The alphabet that a text is sent in.",
    {
        "gsm_7": "The 7-bit alphabet of GSM: 160 characters in one segment.",
        "ucs_2": "Any character, where one is not in the GSM alphabet: 70 characters in one segment.",
    },
)
MessageErrorCode = cast(
    "type[enum.StrEnum]", enum.StrEnum("MessageErrorCode", {code: code for code in failures.DESCRIPTIONS})
)
describe(
    MessageErrorCode,
    "The reason why a message failed.",
    {str(code): description for code, description in failures.DESCRIPTIONS.items()},
)
