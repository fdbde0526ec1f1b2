"""Reasons for which a recipient gets no text, and the errors that they stand for."""

import enum

from app.domain.carriers.carrier import FailureCode
from app.domain.messages import failures
from app.domain.messages.failures import OwnCode


class Reason(enum.StrEnum):
    """The reason for a suppression."""

    opted_out = enum.auto()
    dnd = enum.auto()
    possible_opt_out_hold = enum.auto()
    invalid_phone = enum.auto()
    landline = enum.auto()
    excluded = enum.auto()
    excluded_segment = enum.auto()
    no_consent = enum.auto()
    unreachable_history = enum.auto()
    in_live_conversation = enum.auto()
    missing_merge_field = enum.auto()
    empty_text = enum.auto()
    message_too_long = enum.auto()
    frequency_cap = enum.auto()
    contact_changed = enum.auto()
    contact_deleted = enum.auto()


DEFERRED = "deferred"
"""The reason of a claimed recipient whose text waits for an hour that quiet hours allow."""

DESCRIPTIONS: dict[str, str] = {
    Reason.opted_out: "The contact has opted out. Nothing more can be sent until they reply START.",
    Reason.dnd: "The contact is set to do not disturb. Turn that off for the contact to include it.",
    Reason.possible_opt_out_hold: (
        "The contact may have asked to stop. Read the conversation, then clear it or opt the contact out."
    ),
    Reason.invalid_phone: "The phone is not one that can get texts. Correct it, or delete the contact.",
    Reason.landline: "The phone is a landline, which takes no texts. Ask the contact for a mobile number.",
    Reason.excluded: "The contact has a tag that the campaign leaves out.",
    Reason.excluded_segment: "The contact is in the segment that the campaign leaves out.",
    Reason.no_consent: "No consent is recorded, and the campaign requires one. Import it, or ask for it.",
    Reason.unreachable_history: (
        "The last texts did not reach the phone. It is tried again after the contact writes, or after 90 days."
    ),
    Reason.in_live_conversation: "The contact wrote within 24 hours, and the campaign skips live conversations.",
    Reason.missing_merge_field: (
        "A placeholder has no value for the contact. Add the value, or a fallback such as {first_name|there}."
    ),
    Reason.empty_text: "The text is empty for the contact. Add a fallback to its placeholders.",
    Reason.message_too_long: "The text is too long for the contact. Shorten it.",
    Reason.frequency_cap: (
        "The contact has got as many texts as a cap allows for 24 hours or 7 days. Send to it later, or raise the cap."
    ),
    Reason.contact_changed: "The contact has had another phone since the campaign started.",
    Reason.contact_deleted: "The contact was deleted after the campaign started.",
    DEFERRED: "The text waits for an hour that quiet hours allow. It then leaves by itself.",
}


def describe(reason: str) -> str | None:
    """Return a reason as a sentence, with what to do; None without a reason.

    A text that was refused has the code of an error as its reason.
    """
    if not reason:
        return None
    known = DESCRIPTIONS.get(reason) or failures.DESCRIPTIONS.get(reason)
    return known or f"The text was refused with the error {reason}, which the reference of errors explains."


OF_ERRORS: dict[str, str] = {
    "contact_opted_out": Reason.opted_out,
    "contact_dnd": Reason.dnd,
    "contact_held": Reason.possible_opt_out_hold,
    "invalid_input": Reason.empty_text,
    "not_found": Reason.contact_changed,
}

BEFORE_CALL: dict[str, str] = {
    OwnCode.contact_opted_out: Reason.opted_out,
    OwnCode.contact_dnd: Reason.dnd,
    OwnCode.contact_held: Reason.possible_opt_out_hold,
}
"""The failures of texts that a gate stopped before the call of the carrier: nothing was sent to these recipients."""

OF_SENDER = frozenset(
    {
        FailureCode.unregistered_sender,
        FailureCode.sender_invalid,
        FailureCode.destination_not_allowed,
        FailureCode.account_problem,
    }
)
"""The failures that all texts of a number, or of an account at its carrier, share."""


def reason_of(code: str) -> str:
    """Return the reason of an error's code; a code without one of its own is the reason."""
    return str(OF_ERRORS.get(code, code))
