"""Create drip sequences, change their status, and enroll contacts."""

from collections.abc import Sequence as List
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import AccountStatus
from app.domain.consent import queries as consents
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind
from app.domain.consent.service import Evidence
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.placeholders import Vocabulary
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.eligibility import gates
from app.domain.messages.eligibility.facts import HandoffFacts
from app.domain.messages.models import Attestation, Purpose
from app.domain.quiet_hours import queries as quiet_hours
from app.domain.quiet_hours.limits import Recipient
from app.domain.quiet_hours.rules import minute_of
from app.domain.quiet_hours.zones import find_place
from app.domain.sequences import queries
from app.domain.sequences.models import Enrollment, EnrollmentStatus, Sequence, SequenceStatus, Step
from app.domain.sequences.schedule import Delay, due_at
from app.domain.templates import checking, vocabulary

MAX_NAME, MAX_STEPS = 100, 50
DAY = 24 * 60
MAX_DELAY = 365 * DAY
REMOVED, ARCHIVED = "removed", "sequence_archived"
"""The exit reasons of enrollments that the account ends."""


@dataclass(frozen=True, slots=True)
class NewStep:
    """A step to create: the message, and its delay after the previous step or the enrollment.

    The delay is some days of the recipient's calendar, then some minutes. `at` is a time of the recipient's day, such
    as 10:00, for which the step then waits.
    """

    delay_minutes: int
    body: str
    delay_days: int = 0
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Enrolled:
    """An active enrollment; `already` is true if it existed before."""

    enrollment_id: int
    contact_id: int
    sequence_id: int
    sequence_name: str
    next_send_at: datetime
    already: bool


async def create(unit: UnitOfWork, name: str, steps: List[NewStep]) -> Sequence:
    """Create an active sequence with immutable steps; raise `InvalidInput` or `MessageTooLong`."""
    name = name.strip()
    if not 1 <= len(name) <= MAX_NAME:
        raise InvalidInput(reason=f"name must have 1 to {MAX_NAME} characters.", field="name")
    if not 1 <= len(steps) <= MAX_STEPS:
        raise InvalidInput(reason=f"A sequence has 1 to {MAX_STEPS} steps.", field="steps")
    known = await vocabulary.find(unit)
    for index, step in enumerate(steps):
        _check(step, known, f"steps[{index}]")
    sequence = Sequence(account_id=unit.actor.account_id, name=name)
    await unit.save(sequence)
    rows = [
        Step(
            account_id=sequence.account_id,
            sequence_id=sequence.id,
            position=position,
            delay_days=step.delay_days,
            delay_minutes=step.delay_minutes,
            at_minute=_minute(step, f"steps[{position - 1}]"),
            body=step.body,
        )
        for position, step in enumerate(steps, 1)
    ]
    await unit.save(*rows)
    return sequence


async def update_status(unit: UnitOfWork, id: int, status: SequenceStatus) -> Sequence:
    """Pause a sequence, resume it, or archive it, which ends its enrollments.

    Steps that became due during a pause are sent after it, one at a time for each enrollment.
    """
    sequence = await queries.lock(unit, id, to_change=True)
    sequence.status = status
    await unit.save(sequence)
    under_way = select(Enrollment.id).where(Enrollment.sequence_id == id, Enrollment.status == EnrollmentStatus.active)
    changed = update(Enrollment).where(Enrollment.id.in_(under_way.order_by(Enrollment.id).with_for_update()))
    if status is SequenceStatus.archived:
        await unit.execute(changed.values(_ended(unit, ARCHIVED)))
    else:
        await unit.execute(changed.values(is_paused=status is SequenceStatus.paused))
        unit.notify("sequences")
    return sequence


async def enroll(unit: UnitOfWork, sequence_id: int, contact_id: int) -> Enrolled:
    """Enroll a contact at the first step of a sequence; an active enrollment is returned unchanged.

    The caller attests the contact's consent to such messages, which is recorded. Raises `NotFound`, `Conflict` for an
    archived sequence, `ContactOptedOut` and `ContactDnd`.
    """
    contact = await contacts.get(unit, contact_id, lock=True)
    sequence = await queries.lock(unit, sequence_id, to_change=False)
    if sequence.status == SequenceStatus.archived:
        raise Conflict(reason=f"The drip sequence {sequence.name} is archived and takes no contacts.")
    await _check_gates(unit, contact)
    enrollment = await queries.find_active(unit, sequence.id, contact.id)
    already = enrollment is not None
    if enrollment is None:
        enrollment = await _add(unit, sequence, contact)
        evidence = Evidence(Attestation.enrollment, f"Enrolled in the drip sequence {sequence.name}.")
        await consent.record(unit, contact.phone, ConsentKind.attested, evidence)
    assert enrollment.next_send_at
    return Enrolled(enrollment.id, contact.id, sequence.id, sequence.name, enrollment.next_send_at, already)


async def unenroll(unit: UnitOfWork, enrollment_id: int) -> Enrollment:
    """End an enrollment. Idempotent."""
    enrollment = await queries.lock_enrollment(unit, enrollment_id)
    if enrollment.status == EnrollmentStatus.active:
        for name, value in _ended(unit, REMOVED).items():
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
    await unit.execute(update(Enrollment).where(Enrollment.id.in_(under_way)).values(_ended(unit, REMOVED)))


async def _add(unit: UnitOfWork, sequence: Sequence, contact: Contact) -> Enrollment:
    steps = await queries.find_steps(unit, [sequence.id])
    if not steps:
        raise Conflict(reason=f"The drip sequence {sequence.name} has no steps.")
    row = {
        "account_id": unit.actor.account_id,
        "sequence_id": sequence.id,
        "contact_id": contact.id,
        "is_paused": sequence.status == SequenceStatus.paused,
        "next_send_at": await _find_due_at(unit, steps[0], contact),
        "enrolled_by": unit.actor.label,
    }
    added = cast("Enrollment", (await unit.execute(insert(Enrollment).values(row).returning(Enrollment))).scalar_one())
    unit.notify("sequences")
    return added


async def _find_due_at(unit: UnitOfWork, step: Step, contact: Contact) -> datetime:
    account = await accounts.get_own(unit)
    place = find_place(contact.phone, contact.time_zone, account.time_zone)
    recipient = Recipient(place, await quiet_hours.get_book(unit), account.weekly_cap)
    delay = Delay(step.delay_days, step.delay_minutes, step.at_minute)
    return due_at(recipient, unit.clock.now(), delay, contact.id)


def _ended(unit: UnitOfWork, reason: str) -> dict[str, object]:
    return {
        "status": EnrollmentStatus.exited,
        "exit_reason": reason,
        "next_send_at": None,
        "claimed_until": None,
        "ended_at": unit.clock.now(),
    }


async def _check_gates(unit: UnitOfWork, contact: Contact) -> None:
    """Raise the refusal of a gate that a person has to open; other gates are checked when a step is sent."""
    is_suppressed = await consents.find_suppression(unit, contact.phone) is not None
    known = HandoffFacts(
        Purpose.promotional,
        AccountStatus.active,
        contact.phone,
        contact.status,
        contact.dnd_sms,
        contact.held_until,
        is_suppressed,
    )
    if refused := gates.find_refusal((gates.OPT_OUT, gates.DND), known):
        raise refused[1]


def _check(step: NewStep, known: Vocabulary, place: str) -> None:
    if not 0 <= step.delay_days <= MAX_DELAY // DAY:
        raise InvalidInput(reason="delay_days must be from 0 to 365.", field=f"{place}.delay_days")
    if not 0 <= step.delay_minutes <= MAX_DELAY:
        raise InvalidInput(reason=f"delay_minutes must be from 0 to {MAX_DELAY}.", field=f"{place}.delay_minutes")
    _minute(step, place)
    checking.check(step.body, known, f"{place}.body")


def _minute(step: NewStep, place: str) -> int | None:
    return None if step.at is None else minute_of(step.at, f"{place}.at") % DAY
