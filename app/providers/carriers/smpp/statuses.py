"""Command statuses of SMPP 3.4 (5.1.3), and the refusals that they are."""

import enum
from datetime import timedelta

from app.domain.carriers.carrier import Ambiguous, FailureCode, Limited, Rejected


class Status(enum.IntEnum):
    """Statuses that are sent, or that mean more than their number."""

    ok = 0x00
    invalid_length = 0x02
    invalid_command = 0x03
    invalid_bind_status = 0x04
    already_bound = 0x05
    system_error = 0x08
    invalid_source = 0x0A
    invalid_destination = 0x0B
    bind_failed = 0x0D
    invalid_password = 0x0E
    invalid_system_id = 0x0F
    queue_full = 0x14
    throttled = 0x58
    temporary_error = 0x64
    """The ESME could not process the message now; the SMSC delivers it again."""
    permanent_error = 0x65
    """The ESME can never process the message; the SMSC gives it up."""


LIMITS = frozenset({Status.throttled, Status.queue_full})
"""Statuses by which an SMSC asks for a slower pace."""

CODES = {
    0x01: FailureCode.message_rejected,  # message length
    0x0A: FailureCode.sender_invalid,
    0x0B: FailureCode.invalid_number,
    0x43: FailureCode.message_rejected,  # esm_class
    0x48: FailureCode.sender_invalid,  # type of number
    0x49: FailureCode.sender_invalid,  # numbering plan
    0x50: FailureCode.invalid_number,  # type of number
    0x51: FailureCode.invalid_number,  # numbering plan
    0x62: FailureCode.message_rejected,  # validity period
    0x66: FailureCode.message_rejected,  # refused by the receiving application
}
"""Failure codes of statuses that refuse one message for ever."""

TEMPORARY = frozenset({Status.invalid_bind_status, Status.temporary_error})
"""Statuses after which the same message may be accepted later."""


def describe(status: int) -> str:
    """Return the name of a status for logs and for `carrier_error`, such as "ESME status 0x58"."""
    return f"ESME status 0x{status:02X}"


def refuse(status: int, wait: timedelta) -> Rejected | Ambiguous:
    """Return the answer that a refused `submit_sm` is; `wait` is the wait of the connection after a limit.

    After an error of its system an SMSC may have accepted the message.
    """
    said = describe(status)
    if status in LIMITS:
        limit = Limited.connection
        return Rejected(FailureCode.rate_limited, said, retryable=True, limited=limit, retry_after=wait)
    if status == Status.system_error:
        return Ambiguous(said)
    if status in TEMPORARY:
        return Rejected(FailureCode.carrier_error, said, retryable=True)
    return Rejected(CODES.get(status, FailureCode.carrier_error), said)
