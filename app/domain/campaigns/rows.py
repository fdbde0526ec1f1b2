"""Rows that the statements of the workers of campaigns return."""

from datetime import datetime
from typing import Any, NamedTuple

from app.domain.messages.sending.bulk import BulkFacts


class DueCampaign(NamedTuple):
    """A campaign that is due, locked for other workers by an advisory lock."""

    id: int
    account_id: int
    status: str
    is_read: bool
    actor: str
    attested_at: datetime | None
    phone_number_id: int | None
    is_deleted: bool
    due_at: datetime


class Attester(NamedTuple):
    """The label of the credential that attested the consent of the recipients, and the time of it."""

    actor: str
    attested_at: datetime | None


class FrozenCampaign(NamedTuple):
    """The content and audience of a campaign whose recipients are being written."""

    id: int
    account_id: int
    body: str
    audience: dict[str, Any]
    is_smart_encoded: bool
    is_strict: bool
    max_credits: int | None
    account_settings: dict[str, Any] | None
    read_until: int
    read_after: str
    sent_at: datetime
    local_at: datetime | None


class Waiting(NamedTuple):
    """A recipient whose text is to be accepted."""

    id: int
    contact_id: int
    phone: str
    body: str
    original_body: str | None
    segments: int
    credits: int
    facts: BulkFacts


class Result(NamedTuple):
    """The final result of a recipient."""

    state: str
    reason: str
    opted_out_at: datetime | None
