"""Delivery receipts: their text (SMPP 3.4, appendix B), their optional parameters, and the spellings of ids."""

import enum
import re
from dataclasses import dataclass

from app.domain.carriers.carrier import FailureCode, Receipt, ReceiptStatus
from app.providers.carriers.smpp.pdu import ShortMessage, Tag

TYPE_BITS, IS_RECEIPT, IS_NOTIFICATION = 0x3C, 0x04, 0x20
"""Values of `esm_class` in a delivery: SMPP 3.4, 5.2.12."""

STATES = {
    1: "ENROUTE",
    2: "DELIVRD",
    3: "EXPIRED",
    4: "DELETED",
    5: "UNDELIV",
    6: "ACCEPTD",
    7: "UNKNOWN",
    8: "REJECTD",
}
"""The texts of the values of `message_state`: SMPP 3.4, 5.2.28."""

STATUSES = {
    "ENROUTE": ReceiptStatus.sent,
    "ACCEPTD": ReceiptStatus.sent,
    "DELIVRD": ReceiptStatus.delivered,
    "EXPIRED": ReceiptStatus.failed,
    "DELETED": ReceiptStatus.failed,
    "UNDELIV": ReceiptStatus.failed,
    "REJECTD": ReceiptStatus.failed,
}
"""Statuses of receipts; any other is unconfirmed."""

CODES = {
    "EXPIRED": FailureCode.expired,
    "DELETED": FailureCode.carrier_error,
    "UNDELIV": FailureCode.unreachable,
    "REJECTD": FailureCode.message_rejected,
}

LONGEST_ERROR = 20

_field = re.compile(r"\b(id|stat|err): ?(\S+)", re.IGNORECASE)
_text = re.compile(r"\btext:", re.IGNORECASE)
_is_hex = re.compile(r"[0-9a-f]{1,16}", re.IGNORECASE).fullmatch
_is_decimal = re.compile(r"[0-9]{1,20}").fullmatch


class Spelling(enum.StrEnum):
    """The form of an id in the response to a submit, relative to the same id in a receipt."""

    same = enum.auto()
    hexadecimal = enum.auto()
    decimal = enum.auto()


@dataclass(frozen=True, slots=True)
class SmscReceipt:
    """A receipt with the id as the SMSC writes it in receipts, which may differ from its response to the submit."""

    id: str
    stat: str
    error: str

    def receipt(self, provider_message_id: str) -> Receipt:
        """Return the receipt of the message with this id."""
        status = STATUSES.get(self.stat, ReceiptStatus.unconfirmed)
        has_failed = status is ReceiptStatus.failed
        code = CODES[self.stat] if has_failed else None
        error = f"{self.stat} {self.error}".strip() if has_failed else ""
        return Receipt(provider_message_id, status, self.stat, code, error)


def is_receipt(message: ShortMessage) -> bool:
    """Return whether a delivery is a receipt, and not a text of a phone.

    Some SMSCs leave `esm_class` at 0. No phone can set the parameter by which such a receipt names its message.
    """
    return message.esm_class & TYPE_BITS in (IS_RECEIPT, IS_NOTIFICATION) or Tag.receipted_message_id in message.tlvs


def read(message: ShortMessage) -> SmscReceipt | None:
    """Read a receipt, whose optional parameters count before its text; None for one that names no message."""
    fields = _text.split(message.payload.decode("latin-1").replace("\0", " "))[0]
    said = {name.lower(): value for name, value in reversed(_field.findall(fields))}
    given = message.tlvs.get(Tag.receipted_message_id, b"").partition(b"\0")[0].decode("latin-1")
    id = "".join(filter(str.isprintable, given)) or said.get("id", "")
    state = STATES.get(int.from_bytes(message.tlvs.get(Tag.message_state, b"")[:1], "big"))
    stat = state or said.get("stat", "UNKNOWN").upper()
    if not id:
        return None
    return SmscReceipt(id[:64], stat[:LONGEST_ERROR], _error(message, said.get("err", "")))


def bare(id: str) -> str:
    """Return an id in lower case, without the zeros that some SMSCs write before it in one place only."""
    return id.lower().lstrip("0") or "0"


def spellings(id: str) -> dict[Spelling, str]:
    """Return the ids of responses that the id of a receipt may mean."""
    same = bare(id)
    found = {Spelling.same: same}
    if _is_decimal(same):
        found[Spelling.hexadecimal] = f"{int(same):x}"
    if _is_hex(same):
        found[Spelling.decimal] = str(int(same, 16))
    return found


def _error(message: ShortMessage, said: str) -> str:
    """Return the error as the SMSC gives it; empty without one."""
    network = message.tlvs.get(Tag.network_error_code, b"")
    error = str(int.from_bytes(network[1:], "big")) if len(network) == 3 else said
    return "" if not error.strip("0") else f"err:{error[:LONGEST_ERROR]}"
