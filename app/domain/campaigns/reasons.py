"""Reasons for which a recipient gets no text, and the errors that they stand for."""

import enum

from app.domain.carriers.carrier import FailureCode
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
    contact_changed = enum.auto()
    contact_deleted = enum.auto()


DEFERRED = "deferred"
"""The reason of a claimed recipient whose text waits for an hour that quiet hours or a frequency cap allow."""


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
