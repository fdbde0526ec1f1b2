"""Enroll contacts in drip sequences, pause and resume their enrollments, and end them."""

from collections.abc import Mapping
from collections.abc import Sequence as List
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self, cast

from sqlalchemy import ScalarSelect, func, select, update
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import Account, AccountStatus
from app.domain.carriers.carrier import FailureCode
from app.domain.consent import queries as consents
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind
from app.domain.consent.service import Evidence
from app.domain.contacts import loading
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.kernel.errors import Conflict, DomainError, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.eligibility import gates
from app.domain.messages.eligibility.facts import HandoffFacts
from app.domain.messages.models import Attestation, Purpose
from app.domain.quiet_hours import queries as quiet_hours
from app.domain.quiet_hours.limits import Recipient
from app.domain.quiet_hours.rules import Rulebook
from app.domain.quiet_hours.zones import find_place
from app.domain.sequences import queries
from app.domain.sequences.exits import OPTED_OUT
from app.domain.sequences.models import Enrollment, EnrollmentStatus, Sequence, SequenceStatus, Step
from app.domain.sequences.schedule import Delay, due_at, open_at, week_of

REMOVED = "removed"
"""The exit reason of an enrollment that the account ends."""

LONGEST_PAUSE = timedelta(days=365)
MAX_AT_ONCE = 100
"""The maximum number of contacts that one transaction enrolls."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """An active enrollment; `already` is true if it existed before. A paused one has the time it would have now."""

    enrollment_id: int
    contact_id: int
    sequence_id: int
    sequence_name: str
    next_send_at: datetime
    already: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """The facts about a sequence and its account that decide when steps leave."""

    sequence: Sequence
    account: Account
    book: Rulebook

    @classmethod
    async def of(cls, unit: UnitOfWork, sequence: Sequence) -> Self:
        """Return the plan of a sequence."""
        return cls(sequence, await accounts.get_own(unit), await quiet_hours.get_book(unit))

    def find_due_at(self, step: Step, contact: Contact, start: datetime) -> datetime:
        """Return when a step is due after an instant, as far as no cap puts it off."""
        delay = Delay(step.delay_days, step.delay_minutes, step.at_minute)
        return due_at(self.recipient_of(contact), start, delay, contact.id)

    def recipient_of(self, contact: Contact) -> Recipient:
        """Return the facts about a contact that decide when a step may leave."""
        place = find_place(contact.phone, contact.time_zone, self.account.time_zone)
        drip = self.sequence
        within = week_of(drip.window_start, drip.window_end, drip.window_days)
        return Recipient(place, self.book, self.account.weekly_cap, within=within)


async def enroll(unit: UnitOfWork, sequence_id: int, contact_id: int) -> Enrolled:
    """Enroll a contact at the first step of a sequence; an active enrollment is returned unchanged.

    The caller attests the contact's consent to such messages, which is recorded. Raises `NotFound`, `ContactOptedOut`
    and `ContactDnd`, and `Conflict` for an archived sequence, one that the contact may not begin again, and one that
    ends with the contact's stage or a tag of it.
    """
    contact = await contacts.get(unit, contact_id, lock=True)
    outcome = (await _enroll(unit, sequence_id, [contact]))[contact_id]
    if isinstance(outcome, DomainError):
        raise outcome
    return outcome


async def enroll_many(
    unit: UnitOfWork, sequence_id: int, contact_ids: List[int]
) -> Mapping[int, Enrolled | DomainError]:
    """Enroll contacts like `enroll`; return for each its enrollment, or the error that refuses it, in their order.

    Raises `InvalidInput` for no contacts and for more than `MAX_AT_ONCE`.
    """
    if not 0 < len(contact_ids) <= MAX_AT_ONCE:
        raise InvalidInput(reason=f"contact_ids must hold 1 to {MAX_AT_ONCE} ids.", field="contact_ids")
    found = await _enroll(unit, sequence_id, await loading.lock_many(unit, Contact.id.in_(contact_ids)))
    return {id: found.get(id) or NotFound(kind="contact", id=id) for id in contact_ids}


async def unenroll(unit: UnitOfWork, enrollment_id: int) -> Enrollment:
    """End an enrollment. Idempotent."""
    enrollment = await queries.lock_enrollment(unit, enrollment_id)
    if enrollment.status == EnrollmentStatus.active:
        for name, value in ended(unit, REMOVED).items():
            setattr(enrollment, name, value)
        await unit.save(enrollment)
    return enrollment


async def unenroll_contact(unit: UnitOfWork, contact_id: int) -> None:
    """End all active enrollments of a contact."""
    own = (
        Enrollment.account_id == unit.actor.account_id,
        Enrollment.contact_id == contact_id,
        Enrollment.status == EnrollmentStatus.active,
    )
    under_way = select(Enrollment.id).where(*own).order_by(Enrollment.id).with_for_update()
    await unit.execute(update(Enrollment).where(Enrollment.id.in_(under_way)).values(ended(unit, REMOVED)))


async def pause(unit: UnitOfWork, enrollment_id: int, until: datetime | None = None) -> Enrollment:
    """Pause an enrollment, until a time or until it is resumed; the rest of its delay follows then.

    One whose step was sent stays due, so that a worker advances it at once, also after the worker that sent it has
    died: the key that keeps a step from being sent twice does not last for as long as a pause. It stays paused.

    Raises `NotFound`, `InvalidInput` for a time that is past or more than a year away, and `Conflict` for an
    enrollment that has ended.
    """
    now = unit.clock.now()
    if until is not None and not now < until <= now + LONGEST_PAUSE:
        raise InvalidInput(reason="until must be in the future, and at most a year away.", field="until")
    enrollment = await _lock_active(unit, enrollment_id)
    remaining = _find_remaining(enrollment, now)
    if await queries.is_step_sent(unit, enrollment.id):
        enrollment.next_send_at = now
    else:
        enrollment.next_send_at = until and await _find_open(unit, enrollment, until + remaining)
    enrollment.remaining, enrollment.paused_until, enrollment.is_set_aside = remaining, until, False
    await unit.save(enrollment)
    return enrollment


async def resume(unit: UnitOfWork, enrollment_id: int) -> Enrollment:
    """Resume a paused enrollment; one that is not paused stays as it is. Raises `NotFound` and `Conflict`."""
    now = unit.clock.now()
    enrollment = await _lock_active(unit, enrollment_id)
    if enrollment.is_paused_at(now):
        assert enrollment.remaining is not None
        enrollment.next_send_at = await _find_open(unit, enrollment, now + enrollment.remaining)
        enrollment.remaining = enrollment.paused_until = None
        await unit.save(enrollment)
        unit.notify("sequences")
    return enrollment


def require_open(sequence: Sequence) -> None:
    """Raise `Conflict` for an archived sequence."""
    if sequence.status == SequenceStatus.archived:
        raise Conflict(reason=f"The drip sequence {sequence.name} is archived and takes no contacts.")


def ended(unit: UnitOfWork, reason: str) -> dict[str, object]:
    """Return the values of an enrollment that ends before its last step."""
    return {
        "status": EnrollmentStatus.exited,
        "exit_reason": reason,
        "next_send_at": None,
        "claimed_until": None,
        "ended_at": unit.clock.now(),
    }


async def _enroll(unit: UnitOfWork, sequence_id: int, people: List[Contact]) -> dict[int, Enrolled | DomainError]:
    """Enroll locked contacts; return for each its enrollment, or the error that refuses it."""
    sequence = await queries.lock(unit, sequence_id, to_change=False)
    require_open(sequence)
    suppressed = await consents.find_suppressed(unit, [contact.phone for contact in people])
    latest = await queries.find_latest_enrollments(unit, sequence.id, [contact.id for contact in people])
    outcomes, new = dict[int, Enrolled | DomainError](), list[Contact]()
    for contact in people:
        last = latest.get(contact.id)
        refused = find_refusal(unit, sequence, contact, last, is_suppressed=contact.phone in suppressed)
        if refused:
            outcomes[contact.id] = refused
        elif last is not None and last.status == EnrollmentStatus.active:
            outcomes[contact.id] = _shown(sequence, last, planned(last, unit.clock.now()), already=True)
        else:
            new.append(contact)
    for row in await _add(unit, sequence, new):
        assert row.next_send_at
        outcomes[row.contact_id] = _shown(sequence, row, row.next_send_at, already=False)
    return outcomes


async def _add(unit: UnitOfWork, sequence: Sequence, people: List[Contact]) -> List[Enrollment]:
    steps = await queries.find_steps(unit, [sequence.id])
    if not steps:
        raise Conflict(reason=f"The drip sequence {sequence.name} has no steps.")
    if not people:
        return []
    plan, now = await Plan.of(unit, sequence), unit.clock.now()
    rows = [
        {
            "account_id": unit.actor.account_id,
            "sequence_id": sequence.id,
            "contact_id": contact.id,
            "steps_version": sequence.steps_version,
            "next_send_at": plan.find_due_at(steps[0], contact, now),
            "enrolled_by": unit.actor.label,
            "request_id": unit.actor.request_id,
            "created_at": func.greatest(func.now(), _phone_changed_at(contact)),
        }
        for contact in people
    ]
    added = await unit.execute(insert(Enrollment).values(rows).returning(Enrollment))
    evidence = Evidence(Attestation.enrollment, f"Enrolled in the drip sequence {sequence.name}.")
    await consent.record_many(unit, [contact.phone for contact in people], ConsentKind.attested, evidence)
    unit.notify("sequences")
    return cast("List[Enrollment]", added.scalars().all())


def _phone_changed_at(contact: Contact) -> ScalarSelect[datetime | None]:
    """Return the time of the phone of a locked contact, which may be after the beginning of this transaction."""
    return select(Contact.phone_changed_at).where(Contact.id == contact.id).scalar_subquery()


def _shown(sequence: Sequence, row: Enrollment, at: datetime, *, already: bool) -> Enrolled:
    return Enrolled(row.id, row.contact_id, sequence.id, sequence.name, at, already)


def planned(enrollment: Enrollment, now: datetime) -> datetime:
    """Return the time of the next step of an active enrollment; of a paused one, the time it would have now."""
    return enrollment.next_send_at or now + _find_remaining(enrollment, now)


def find_refusal(
    unit: UnitOfWork, sequence: Sequence, contact: Contact, last: Enrollment | None, *, is_suppressed: bool
) -> DomainError | None:
    """Return the error of a gate that a person has to open, or of the sequence; a step passes the other gates."""
    known = HandoffFacts(
        Purpose.promotional,
        AccountStatus.active,
        contact.phone,
        contact.status,
        contact.dnd_sms,
        None,
        is_suppressed,
    )
    if refused := gates.find_refusal((gates.OPT_OUT, gates.DND), known):
        return refused[1]
    if reason := _find_exit(sequence, contact) or _find_bar(sequence, last, unit.clock.now()):
        return Conflict(reason=reason)
    return None


def _find_exit(sequence: Sequence, contact: Contact) -> str:
    if contact.pipeline_stage in sequence.exit_stages:
        return f"The drip sequence ends for contacts in the stage {contact.pipeline_stage}, which this one is in."
    tags = [tag for tag in contact.tags if tag in sequence.exit_tags]
    return f"The drip sequence ends for contacts with the tag {tags[0]}, which this one has." if tags else ""


def _find_bar(sequence: Sequence, last: Enrollment | None, now: datetime) -> str:
    """Return why a contact whose last enrollment has ended may not be enrolled again."""
    if last is None or last.status == EnrollmentStatus.active:
        return ""
    if last.exit_reason in (OPTED_OUT, FailureCode.opted_out):
        return "The contact left this drip sequence by an opt-out, and is not enrolled in it again."
    days = sequence.re_enroll_after_days
    if days is None:
        return "The contact was enrolled before, and this drip sequence takes a contact once."
    if (last.ended_at or now) + timedelta(days=days) > now:
        return f"The contact was enrolled before, and this drip sequence takes it again {days} days after the end."
    return ""


async def _lock_active(unit: UnitOfWork, id: int) -> Enrollment:
    enrollment = await queries.lock_enrollment(unit, id)
    if enrollment.status != EnrollmentStatus.active:
        raise Conflict(reason=f"The enrollment is {enrollment.status}: nothing is left to wait for.")
    return enrollment


def _find_remaining(enrollment: Enrollment, now: datetime) -> timedelta:
    """Return the part of the delay that is left, or was when the enrollment was paused."""
    if enrollment.remaining is not None and enrollment.is_paused_at(now):
        return enrollment.remaining
    assert enrollment.next_send_at
    return max(timedelta(), enrollment.next_send_at - now)


async def _find_open(unit: UnitOfWork, enrollment: Enrollment, wanted: datetime) -> datetime:
    """Return the first time, from one on, at which the next step may leave."""
    sequence = await queries.get(unit, enrollment.sequence_id)
    plan = await Plan.of(unit, sequence)
    contact = await contacts.get(unit, enrollment.contact_id)
    return open_at(plan.recipient_of(contact), wanted, enrollment.id)
