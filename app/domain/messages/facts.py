"""Rows that decide about sends."""

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple


class Sender(NamedTuple):
    """The facts of an account that decide about all its sends; the row is locked."""

    id: int
    balance: int
    rate: Decimal
    region: str | None
    status: str
    deletion_at: datetime | None


class Facts(NamedTuple):
    """The facts that decide about one send: contact, gates, sending number, and any answer to its key."""

    message_id: int
    contact_id: int | None
    first_name: str | None
    last_name: str | None
    email: str | None
    contact_status: str | None
    dnd_sms: bool | None
    held_until: datetime | None
    suppressed: bool
    phone_number: str | None
    carrier: str | None
    fingerprint: str | None
    answer: dict[str, Any] | None


class AddedContact(NamedTuple):
    """A contact that a send needs; `is_new` unless another transaction added it first."""

    id: int
    account_id: int
    phone: str
    pipeline_stage: str
    source: str
    status: str
    created_at: datetime
    is_new: bool
