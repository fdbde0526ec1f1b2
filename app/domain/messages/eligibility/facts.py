"""The facts that decide about a send, and the rows that they are read from."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from app.domain.accounts.models import AccountStatus
from app.domain.billing import prices
from app.domain.consent import sql as consent
from app.domain.contacts import sql as contacts
from app.domain.conversations import sql as conversations
from app.domain.kernel import phone
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.messages.requests import Phone, SendRequest
from app.domain.numbers import sql as numbers
from app.domain.quiet_hours.limits import Timing


def recipient(account_id: str, phone: str) -> str:
    """Return the columns of the facts about a recipient that both accept and hand-off read; the contact is `c`."""
    return f"{contacts.GATES}, {consent.is_suppressed(account_id, phone)} AS suppressed"


COLUMNS = f"""
  c.id AS contact_id, {contacts.PERSON}, {recipient("r.account_id", "r.phone")}, v.id AS conversation_id,
  n.phone_number, n.carrier
"""
JOINS = f"""
{contacts.join_by_phone("r.account_id", "r.phone")}
{conversations.join("c.id")}
{numbers.join_sender("r.account_id", "r.number_id", "CASE WHEN r.keeps_number IS NOT FALSE THEN v.sending_number END")}
"""
"""The facts of requested sends `r`, rows of `account_id, phone, number_id, keeps_number`."""


class Sender(NamedTuple):
    """The account of a send. At accept its row is locked."""

    id: int
    balance: int
    rate: Decimal
    region: str
    status: str
    deletion_at: datetime | None
    limits_transactional: bool
    smart_encoding: bool
    fold_accents: bool


class RequestRow(NamedTuple):
    """The row of a requested send: its message's id, `COLUMNS`, and any answer to its idempotency key."""

    message_id: int
    contact_id: int | None
    first_name: str | None
    last_name: str | None
    email: str | None
    contact_status: str | None
    dnd_sms: bool | None
    held_until: datetime | None
    reach: str | None
    suppressed: bool
    conversation_id: int | None
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


class OpenedConversation(NamedTuple):
    """The conversation with a contact that had none; `is_new` unless another transaction opened it first."""

    id: int
    contact_id: int
    is_new: bool


@dataclass(slots=True)
class HandoffFacts:
    """The facts that may change between accept and hand-off, and so are read and decided on at both.

    `purpose` is a `Purpose`. `phone` is in E.164, or None where the recipient's number can get no texts. `reach` is
    what carriers, or texts from it, have said of it. `timing` says when a text may leave that obeys quiet hours and
    caps, None for any other; it can wait until `latest`, or not at all where that is None, and for a cap only if it
    `waits_for_cap`.
    """

    purpose: str
    account_status: str
    phone: str | None
    contact_status: str | None
    dnd_sms: bool | None
    held_until: datetime | None
    suppressed: bool
    reach: str | None = field(default=None, kw_only=True)
    timing: Timing | None = field(default=None, kw_only=True)
    latest: datetime | None = field(default=None, kw_only=True)
    waits_for_cap: bool = field(default=True, kw_only=True)

    @property
    def must_wait(self) -> bool:
        """Tell whether the text waits longer than it can."""
        return self.timing is not None and (self.latest is None or self.timing.is_beyond(self.latest))


@dataclass(slots=True)
class QueuedFacts(HandoffFacts):
    """The facts that decide about a queued text; `has_number` while the account has its sending number."""

    number: str
    has_number: bool


@dataclass(slots=True)
class RecipientFacts(HandoffFacts):
    """The facts about the recipient; `phone_refusal` is the error that refuses the phone."""

    phone_refusal: InvalidPhone | LandlinePhone | None


@dataclass(slots=True)
class SendFacts(RecipientFacts):
    """The facts that decide about a send at accept.

    `wanted_contact_id` and `wanted_number_id` are those of the request, and None where it names none; `contact_id` is
    the contact that has the phone, and `from_number` the sending number that was found. `wait` is the seconds until the
    pace of that number lets the text leave, for a caller that waits for it.
    """

    deletion_at: datetime | None
    consent_attested: bool
    wanted_contact_id: int | None
    contact_id: int | None
    wanted_number_id: int | None
    from_number: str | None
    body: str
    segments: int
    max_segments: int
    credits: int
    balance: int
    wait: float = 0


def read_phone(to: str, region: str | None = None) -> Phone:
    """Return the phone of a recipient; one in national format needs the region of the account."""
    try:
        return Phone(phone.require_recipient(to, region))
    except (InvalidPhone, LandlinePhone) as refusal:
        return Phone(phone.find_unproven(to, region), refusal)


def read_phone_of_contact(phone: str) -> Phone:
    """Return the phone of a contact that the caller named by an id; its error tells no phone, nor a field to correct.

    The caller may lack the scope to read the contact.
    """
    e164, refusal = read_phone(phone)
    if refusal is None:
        return Phone(e164)
    facts: dict[str, object] = refusal.facts | {"phone": "The contact's phone"}
    untold = type(refusal)(field=None, **facts)
    untold.field = None
    return Phone(e164, untold)


def of_send(
    request: SendRequest, account: Sender | None, to: Phone, row: RequestRow, balance: int, max_segments: int
) -> SendFacts:
    """Return the facts of a send; an account that does not exist counts as suspended."""
    send, segments = request.send, request.parts.segments
    credits = segments * prices.credits_per_segment(to.e164, account.region) if account and to.e164 else 0
    return SendFacts(
        send.purpose,
        account.status if account else AccountStatus.suspended,
        to.e164,
        row.contact_status,
        row.dnd_sms,
        row.held_until,
        row.suppressed,
        to.refusal,
        account.deletion_at if account else None,
        send.consent_attested,
        send.contact_id,
        row.contact_id,
        send.from_phone_number_id,
        row.phone_number,
        send.body,
        segments,
        max_segments,
        credits,
        balance,
        reach=row.reach,
    )
