"""Gates: the checks that decide, in one order, whether a text may be sent.

A gate is a pure function of facts. Accept checks `GATES` in the transaction that debits the text; hand-off checks
`HANDOFF_GATES` again, whose facts may have changed since.
"""

import enum
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, TypeVar

from app.domain.accounts.errors import AccountDeleted, AccountDeletionPending, AccountSuspended
from app.domain.accounts.models import AccountStatus
from app.domain.billing.service import InsufficientCredits
from app.domain.consent.errors import ContactHeld, ContactOptedOut
from app.domain.contacts.errors import ContactDnd
from app.domain.contacts.models import ContactStatus, Reach
from app.domain.kernel.blank_texts import is_blank
from app.domain.kernel.errors import DomainError, InvalidInput, NotFound
from app.domain.kernel.events import timestamp
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.messages.eligibility.facts import HandoffFacts, QueuedFacts, RecipientFacts, SendFacts
from app.domain.messages.errors import ConsentNotAttested, MessageTooLong, NoSender, NumberBusy, NumberReleased
from app.domain.messages.models import Purpose
from app.domain.quiet_hours.errors import FrequencyCap, QuietHours
from app.domain.quiet_hours.limits import Deferral, Timing

LONGEST_WAIT = 5.0
"""Seconds that a caller waits for its turn; a text that would wait longer is refused."""

F = TypeVar("F", bound=HandoffFacts, contravariant=True)


class GateName(enum.StrEnum):
    """The name of a gate."""

    account = enum.auto()
    consent = enum.auto()
    phone = enum.auto()
    account_deletion = enum.auto()
    contact = enum.auto()
    opt_out = enum.auto()
    dnd = enum.auto()
    hold = enum.auto()
    line_type = enum.auto()
    sender = enum.auto()
    body = enum.auto()
    frequency_cap = enum.auto()
    quiet_hours = enum.auto()
    credits = enum.auto()
    pace = enum.auto()


COMPLIANCE = frozenset({Purpose.compliance})
UNLIMITED = COMPLIANCE | {Purpose.conversational}
"""The purposes that neither quiet hours nor caps ever hold for."""

ACTIVE, OPTED_OUT = AccountStatus.active, ContactStatus.opted_out
"""The statuses that every text is checked for; Python looks up a member of an enum slowly."""


@dataclass(frozen=True, slots=True)
class Gate(Generic[F]):
    """One check. `errors` are those that it refuses with; `remedy` says what to do then.

    Texts of the purposes `passed_by` are not checked. `is_audited` where a refusal records the event `send_blocked`.
    `needs_phone` where the gate cannot be decided on without the recipient's phone in E.164. A gate that `defers` puts
    a text off, and refuses one that cannot wait so long.
    """

    name: GateName
    errors: tuple[type[DomainError], ...]
    remedy: str
    check: Callable[[F], DomainError | None]
    passed_by: frozenset[Purpose] = COMPLIANCE
    is_audited: bool = False
    needs_phone: bool = False
    defers: Callable[[Timing], Deferral | None] | None = None


def _check_account(facts: HandoffFacts) -> DomainError | None:
    if facts.account_status == ACTIVE:
        return None
    return AccountDeleted() if facts.account_status == AccountStatus.deleted else AccountSuspended()


def _check_consent(facts: SendFacts) -> DomainError | None:
    return None if facts.consent_attested else ConsentNotAttested()


def _check_phone(facts: RecipientFacts) -> DomainError | None:
    if facts.phone is None or (isinstance(facts.phone_refusal, InvalidPhone) and facts.reach != Reach.proven):
        return facts.phone_refusal
    return None


def _check_account_deletion(facts: SendFacts) -> DomainError | None:
    return AccountDeletionPending(at=timestamp(facts.deletion_at)) if facts.deletion_at else None


def _check_contact(facts: SendFacts) -> DomainError | None:
    if facts.wanted_contact_id in (None, facts.contact_id):
        return None
    return NotFound(kind="contact", id=facts.wanted_contact_id)


def _check_opt_out(facts: HandoffFacts) -> DomainError | None:
    if facts.suppressed or facts.contact_status == OPTED_OUT:
        return ContactOptedOut()
    return None


def _check_dnd(facts: HandoffFacts) -> DomainError | None:
    return ContactDnd() if facts.dnd_sms else None


def _check_hold(facts: HandoffFacts) -> DomainError | None:
    return ContactHeld() if facts.held_until else None


def _check_line_type(facts: RecipientFacts) -> DomainError | None:
    if facts.reach == Reach.proven:
        return None
    if facts.purpose == Purpose.promotional and (found := find_verdict(facts.reach)):
        return found
    return facts.phone_refusal


def find_verdict(reach: str | None) -> InvalidPhone | LandlinePhone | None:
    """Return the error for a carrier's verdict on a phone. It refuses promotional texts, of which many are sent."""
    if reach == Reach.landline:
        return LandlinePhone(phone="The contact's phone")
    if reach == Reach.invalid_number:
        return InvalidPhone(phone="The contact's phone", reason="its carrier says that it is not in service")
    return None


def _check_sender(facts: SendFacts) -> DomainError | None:
    if facts.from_number is not None:
        return None
    wanted = facts.wanted_number_id
    return NoSender() if wanted is None else NotFound(kind="active phone number", id=wanted)


def _check_number(facts: QueuedFacts) -> DomainError | None:
    return None if facts.has_number else NumberReleased(number=facts.number)


def _check_body(facts: SendFacts) -> DomainError | None:
    if is_blank(facts.body):
        return InvalidInput(reason="body must not be empty.", field="body")
    if len(facts.body) > MAX_LENGTH:
        return MessageTooLong(size=len(facts.body), unit="characters", limit=MAX_LENGTH)
    if facts.segments > facts.max_segments:
        return MessageTooLong(size=facts.segments, unit="segments", limit=facts.max_segments)
    return None


def _check_frequency_cap(facts: HandoffFacts) -> DomainError | None:
    deferral = facts.timing.by_cap if facts.timing else None
    if facts.timing is None or deferral is None:
        return None
    must_refuse = facts.must_wait or (facts.timing.is_capped and not facts.waits_for_cap)
    return _too_early(FrequencyCap, deferral) if must_refuse else None


def _check_quiet_hours(facts: HandoffFacts) -> DomainError | None:
    deferral = facts.timing.by_hours if facts.timing else None
    return _too_early(QuietHours, deferral) if deferral and facts.must_wait else None


def _too_early(kind: type[FrequencyCap] | type[QuietHours], deferral: Deferral) -> DomainError:
    until = timestamp(deferral.until) if deferral.until else "not within two weeks"
    error = kind(rule=deferral.rule, until=until)
    error.not_before = deferral.until
    return error


def _check_credits(facts: SendFacts) -> DomainError | None:
    if facts.credits <= facts.balance:
        return None
    return InsufficientCredits(needed=facts.credits, balance=facts.balance)


def _check_pace(facts: SendFacts) -> DomainError | None:
    return NumberBusy(seconds=math.ceil(facts.wait)) if facts.wait > LONGEST_WAIT else None


ACCOUNT = Gate(
    GateName.account,
    (AccountSuspended, AccountDeleted),
    "Have the operator resume the account; a deleted account never sends again.",
    _check_account,
)
CONSENT = Gate(
    GateName.consent,
    (ConsentNotAttested,),
    "Get the recipient's prior express written consent, and send with consent_attested set to true.",
    _check_consent,
    passed_by=COMPLIANCE | {Purpose.conversational},
)
PHONE = Gate(
    GateName.phone,
    (InvalidPhone,),
    "Give a phone that takes texts, in E.164 form, such as +12025550143.",
    _check_phone,
)
ACCOUNT_DELETION = Gate(
    GateName.account_deletion,
    (AccountDeletionPending,),
    "Withdraw the deletion of the account.",
    _check_account_deletion,
)
CONTACT = Gate(
    GateName.contact,
    (NotFound,),
    "Read the contact again: it was deleted, or its phone has changed.",
    _check_contact,
    is_audited=True,
    needs_phone=True,
)
OPT_OUT = Gate(
    GateName.opt_out,
    (ContactOptedOut,),
    "Wait for the contact's reply START, or record a new written consent of theirs.",
    _check_opt_out,
    is_audited=True,
    needs_phone=True,
)
DND = Gate(
    GateName.dnd,
    (ContactDnd,),
    "Set dnd_sms of the contact to false.",
    _check_dnd,
    is_audited=True,
    needs_phone=True,
)
HOLD = Gate(
    GateName.hold,
    (ContactHeld,),
    "Read the contact's last reply, and decide whether it was an opt-out. After 24 hours it is one.",
    _check_hold,
    passed_by=COMPLIANCE | {Purpose.conversational},
    is_audited=True,
    needs_phone=True,
)
LINE_TYPE = Gate(
    GateName.line_type,
    (LandlinePhone, InvalidPhone),
    "Send to a mobile number of the recipient. The verdict of a carrier ends with the next text from the phone.",
    _check_line_type,
    needs_phone=True,
)
SENDER = Gate(
    GateName.sender,
    (NotFound, NoSender),
    "Send from an active number of the account; add one if it has none.",
    _check_sender,
    is_audited=True,
)
NUMBER = Gate(
    GateName.sender,
    (NumberReleased,),
    "Send from an active number of the account.",
    _check_number,
    passed_by=frozenset(),
)
"""The gate `sender` of a queued text: no text, of any purpose, leaves from a number that the account has no more."""

BODY = Gate(
    GateName.body,
    (InvalidInput, MessageTooLong),
    f"Write 1 to {MAX_LENGTH} characters, in no more segments than the carrier takes.",
    _check_body,
)
FREQUENCY_CAP = Gate(
    GateName.frequency_cap,
    (FrequencyCap,),
    "Wait until then, or raise a cap that is the account's own.",
    _check_frequency_cap,
    passed_by=UNLIMITED,
    is_audited=True,
    needs_phone=True,
    defers=attrgetter("by_cap"),
)
QUIET_HOURS = Gate(
    GateName.quiet_hours,
    (QuietHours,),
    "Send within the hours of the recipient, or set the contact's time_zone if you know it.",
    _check_quiet_hours,
    passed_by=UNLIMITED,
    is_audited=True,
    needs_phone=True,
    defers=attrgetter("by_hours"),
)
CREDITS = Gate(
    GateName.credits,
    (InsufficientCredits,),
    "Add credits to the account, or shorten the text.",
    _check_credits,
    is_audited=True,
    needs_phone=True,
)

PACE = Gate(
    GateName.pace,
    (NumberBusy,),
    "Wait until the texts before it have left, send without waiting for the carrier, or from another number.",
    _check_pace,
)

REQUEST_GATES: tuple[Gate[SendFacts], ...] = (ACCOUNT, CONSENT, PHONE)
"""The gates that refuse a request even if its idempotency key was answered before."""

TEXT_GATES: tuple[Gate[SendFacts], ...] = (
    ACCOUNT_DELETION,
    CONTACT,
    OPT_OUT,
    DND,
    HOLD,
    LINE_TYPE,
    SENDER,
    BODY,
    FREQUENCY_CAP,
    QUIET_HOURS,
    CREDITS,
    PACE,
)
"""The gates that decide about a text that was not accepted before."""

GATES = (*REQUEST_GATES, *TEXT_GATES)
"""All gates, in the order in which accept checks them."""

HANDOFF_GATES: tuple[Gate[QueuedFacts], ...] = (
    ACCOUNT,
    OPT_OUT,
    DND,
    HOLD,
    NUMBER,
    FREQUENCY_CAP,
    QUIET_HOURS,
)
"""The gates that hand-off checks again, in the same order."""


RECIPIENT_GATES: tuple[Gate[RecipientFacts], ...] = (PHONE, OPT_OUT, DND, HOLD, LINE_TYPE)
"""The gates that a contact alone decides, in the same order."""


def find_refusal(gates: Sequence[Gate[F]], facts: F) -> tuple[Gate[F], DomainError] | None:
    """Return the first of some gates that refuses a text, with its error; None where the text passes them all."""
    for gate in gates:
        if (error := gate.check(facts)) and facts.purpose not in gate.passed_by:
            return gate, error
    return None
