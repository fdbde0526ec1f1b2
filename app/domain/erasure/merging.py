"""Merges two contacts that are one person: the fields by rule, and the records of both."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import func, select

from app.domain.accounts import audit
from app.domain.accounts.audit import AuditAction
from app.domain.billing import service as billing
from app.domain.campaigns.models import Recipient, RecipientState
from app.domain.consent.service import Evidence
from app.domain.contacts import duplicates
from app.domain.contacts import queries as contacts
from app.domain.contacts.duplicates import Joined
from app.domain.contacts.events import ContactMerged, Snapshot, changes, contact_keys
from app.domain.contacts.models import Contact, ContactStatus
from app.domain.conversations import review
from app.domain.erasure import moving
from app.domain.events import erasure as events
from app.domain.events import outbox
from app.domain.integrations import erasure as integrations
from app.domain.kernel import idempotency
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import erasure as messages
from app.domain.messages import queries
from app.domain.messages.models import Message
from app.domain.sequences.models import Enrollment, EnrollmentStatus

DIGITS = 15
"""The number of hexadecimal digits of a digest that a confirmation keeps."""


@dataclass(frozen=True, slots=True)
class Merge:
    """Two contacts: `from_id` is merged into `into_id`, which remains. `take` names the fields that the first gives."""

    into_id: int
    from_id: int
    take: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class MergePreview:
    """The result of a merge, before it is made: `problems` prevent it, `consequences` are sentences."""

    preview_id: str
    into: Contact
    other: Contact
    fields: list[Joined]
    messages: int
    problems: list[str]
    consequences: list[str]


async def preview(unit: UnitOfWork, wanted: Merge) -> MergePreview:
    """Return the result of a merge; raise `NotFound`, and `InvalidInput` for one contact twice or a wrong field."""
    if wanted.into_id == wanted.from_id:
        raise InvalidInput(reason="into_id and from_id must be two contacts.", field="from_id")
    into, other = await contacts.get(unit, wanted.into_id), await contacts.get(unit, wanted.from_id)
    return await _describe(unit, wanted, into, other)


async def merge(unit: UnitOfWork, wanted: Merge, preview_id: str) -> Contact:
    """Merge a contact into another one as a preview showed, and return that one. It cannot be undone.

    The merged contact is deleted; its messages, conversation, enrollments, bookings and events become those of the
    other. Consent records and suppressions are kept for both phones. An opt-out or do-not-disturb of either holds for
    the contact that remains. Raises `NotFound`, `InvalidInput`, and `Conflict` where the contacts changed since the
    preview, a reply waits for a decision, or a text to the merged contact has not left.
    """
    await billing.lock(unit)
    await integrations.lock(unit, wanted.into_id, wanted.from_id)
    for id in sorted((wanted.into_id, wanted.from_id)):
        await contacts.get(unit, id, lock=True)
    shown = await preview(unit, wanted)
    into, other = shown.into, shown.other
    if shown.problems:
        raise Conflict(reason=shown.problems[0])
    if shown.preview_id != preview_id:
        raise Conflict(reason="The contacts changed since the preview. Look at a new preview, and confirm that.")
    await messages.lock_all(unit, other.id)
    await events.hold_dispatch(unit)
    await _join(unit, into, other, shown.fields)
    await moving.end_work(unit, other)
    await moving.move(unit, other, into)
    await unit.delete(other)
    return into


async def _join(unit: UnitOfWork, into: Contact, other: Contact, fields: list[Joined]) -> None:
    """Write the fields, and record the merge: an event, an audit entry, and the opt-out if only the other has one."""
    before, now = Snapshot.of(into), unit.clock.now()
    duplicates.write(into, other, fields)
    into.updated_at = now
    await unit.save(into)
    for event in changes(into, before, now):
        outbox.record(unit, event, into.id)
    merged = ContactMerged(
        **contact_keys(into), merged_contact_id=other.id, merged_phone=other.phone, merged_at=timestamp(now)
    )
    outbox.record(unit, merged, into.id)
    subject = f"contact {other.id} into {into.id}"
    await audit.record(unit, AuditAction.contacts_merged, subject, merged_id=other.id, into_id=into.id)
    if other.status == ContactStatus.opted_out and into.status != ContactStatus.opted_out:
        note = f"Merged with the contact {other.id} of {other.phone}, which had opted out."
        await review.record_opt_out(unit, into.id, Evidence("merge", note=note))


async def _describe(unit: UnitOfWork, wanted: Merge, into: Contact, other: Contact) -> MergePreview:
    fields = duplicates.join(into, other, wanted.take)
    facts = [[each.id, each.phone, each.status, each.dnd_sms] for each in (into, other)]
    values = [[each.name, str(each.value), str(each.discarded)] for each in fields]
    count = await unit.one(select(func.count()).select_from(Message).where(Message.contact_id == other.id))
    return MergePreview(
        preview_id=str(int(idempotency.fingerprint("merge_contacts", facts=facts, values=values)[:DIGITS], 16)),
        into=into,
        other=other,
        fields=fields,
        messages=count or 0,
        problems=await _find_problems(unit, into, other),
        consequences=await _find_consequences(unit, into, other),
    )


async def _find_problems(unit: UnitOfWork, into: Contact, other: Contact) -> list[str]:
    problems = [
        f"A reply of {each.phone} may be an opt-out. Decide on it in the conversation first."
        for each in (into, other)
        if each.held_until is not None
    ]
    claimed = Recipient.contact_id == other.id, Recipient.state == RecipientState.claimed
    is_sending = await unit.all(select(Recipient.id).where(*claimed).limit(1))
    if is_sending or await queries.list_waiting(unit, other.id):
        problems.append(f"A text to {other.phone} has not left yet. Cancel it, or wait until it was sent.")
    return problems


async def _find_consequences(unit: UnitOfWork, into: Contact, other: Contact) -> list[str]:
    told = [f"The contact of {other.phone} is deleted. Its texts are kept with {into.phone}, which is the one phone."]
    told.append(f"A later text from {other.phone} makes a new contact. Consent and opt-outs of both phones are kept.")
    if other.status == ContactStatus.opted_out and into.status != ContactStatus.opted_out:
        told.append(f"{into.phone} is opted out too, because {other.phone} has opted out.")
    if other.dnd_sms and not into.dnd_sms:
        told.append(f"{into.phone} gets do-not-disturb, because {other.phone} has it.")
    active = Enrollment.contact_id == other.id, Enrollment.status == EnrollmentStatus.active
    if count := await unit.one(select(func.count()).select_from(Enrollment).where(*active)):
        told.append(f"{count} drip enrollments of {other.phone} end, because {into.phone} did not agree to them.")
    return told
