"""Opt contacts out and in, hold them for review, and set their status by the consent of their phone."""

from collections.abc import Sequence

from sqlalchemy import select, text

from app.domain.consent import queries as consents
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind, SuppressionReason
from app.domain.consent.service import Evidence
from app.domain.contacts import queries
from app.domain.contacts.additions import AnyContact
from app.domain.contacts.events import ContactChanged, NewOptOut, contact_keys
from app.domain.contacts.models import Contact, ContactStatus
from app.domain.events import outbox
from app.domain.kernel.events import Event, timestamp
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_KEYWORD = 32
OPT_OUT_MANY = f"""
UPDATE contacts SET status = '{ContactStatus.opted_out}', held_until = NULL, updated_at = :now
WHERE account_id = :account_id AND id = ANY(:ids)
"""
FIND_OVERDUE_HOLDS = "SELECT DISTINCT account_id FROM contacts WHERE held_until <= $1 LIMIT 100"
"""Finds the accounts in which holds expired at `$1`."""


async def opt_out(
    unit: UnitOfWork, contact: Contact, keyword: str, reason: SuppressionReason, evidence: Evidence
) -> bool:
    """Suppress a contact's phone permanently; return False when the contact was already opted out."""
    await consent.suppress(unit, contact.phone, keyword, reason, evidence)
    changed = contact.status != ContactStatus.opted_out
    if changed:
        await _set(unit, contact, ContactStatus.opted_out)
        at = timestamp(unit.clock.now())
        outbox.record(unit, NewOptOut(**contact_keys(contact), opted_out_at=at, keyword=keyword), contact.id)
    return changed


async def opt_out_many(
    unit: UnitOfWork, contacts: Sequence[AnyContact], reason: SuppressionReason, evidence: Evidence
) -> None:
    """Opt out locked contacts as `opt_out` does, by a few statements, with evidence as for `suppress_many`."""
    keyword, now = _keyword(evidence), unit.clock.now()
    await consent.suppress_many(unit, [each.phone for each in contacts], keyword, reason, evidence)
    changed = [each for each in contacts if each.status != ContactStatus.opted_out]
    await consent.drop_holds(unit, [each.phone for each in changed])
    values = {"account_id": unit.actor.account_id, "ids": [each.id for each in changed], "now": now}
    await unit.execute(text(OPT_OUT_MANY), values)
    events = list[tuple[Event, int]]()
    for each in changed:
        each.status = ContactStatus.opted_out
        told = NewOptOut(**contact_keys(each), opted_out_at=timestamp(now), keyword=keyword)
        events.append((told, each.id))
    await outbox.record_many(unit, events)


async def opt_in(unit: UnitOfWork, contact: Contact, evidence: Evidence) -> bool:
    """Allow messages to a contact's phone again; return False when they were already allowed."""
    changed = contact.status == ContactStatus.opted_out
    await consent.lift(unit, contact.phone, ConsentKind.re_opt_in if changed else ConsentKind.opt_in, evidence)
    if changed or contact.held_until is not None:
        await _set(unit, contact, ContactStatus.active)
        outbox.record(unit, ContactChanged.of(unit, contact), contact.id)
    return changed


async def record_opt_out(unit: UnitOfWork, contact_id: int, evidence: Evidence) -> Contact:
    """Record an opt-out that was given by mail, by phone or in person; raise `InvalidInput`."""
    contact = await queries.get(unit, contact_id, lock=True)
    await opt_out(unit, contact, _keyword(evidence), SuppressionReason.recorded, evidence.checked(unit))
    return contact


async def record_opt_in(unit: UnitOfWork, contact_id: int, evidence: Evidence) -> Contact:
    """Record a new written consent, with the text that the person agreed to; raise `InvalidInput`."""
    contact = await queries.get(unit, contact_id, lock=True)
    await opt_in(unit, contact, evidence.checked(unit, needs_text=True))
    return contact


async def revoke(unit: UnitOfWork, phone: str, evidence: Evidence) -> Contact | None:
    """Record an opt-out of an E.164 phone, whether or not a contact has it; return that contact.

    A transaction that gives the phone to a contact at the same time ends before, or finds the opt-out.
    """
    contact = await queries.find_by_phone(unit, phone, lock=True)
    if contact is None:
        await queries.hold_additions(unit)
        contact = await queries.find_by_phone(unit, phone, lock=True)
    if contact is not None:
        return await record_opt_out(unit, contact.id, evidence)
    await consent.suppress(unit, phone, _keyword(evidence), SuppressionReason.recorded, evidence.checked(unit))
    return None


async def hold(unit: UnitOfWork, contact: Contact, reply: str = "", message_id: int | None = None) -> bool:
    """Stop automated messages until a user decides on an unclear reply, for 24 hours at most.

    A second unclear reply does not prolong the hold. Return False for a contact that has opted out.
    """
    if contact.status == ContactStatus.opted_out:
        return False
    if contact.held_until is None:
        contact.held_until = await consent.hold(unit, contact.phone, reply, message_id)
        await _save(unit, contact)
    return True


async def release_hold(unit: UnitOfWork, contact_id: int, *, opted_out: bool) -> Contact:
    """Decide whether an unclear reply was an opt-out."""
    contact = await queries.get(unit, contact_id, lock=True)
    if opted_out:
        await opt_out(unit, contact, "", SuppressionReason.review, await _release(unit, contact, "review"))
    elif contact.held_until is not None:
        await _release(unit, contact)
        await _save(unit, contact)
    return contact


async def close_hold(unit: UnitOfWork, contact: Contact, reason: SuppressionReason) -> None:
    """Record an opt-out of a held phone before its contact is changed or deleted: an unclear reply is no consent."""
    if contact.held_until is not None:
        await consent.suppress(unit, contact.phone, "", reason, await _release(unit, contact, reason))


async def expire_holds(unit: UnitOfWork, limit: int = 100) -> list[int]:
    """Turn overdue holds into opt-outs; return the ids of their contacts."""
    overdue = (
        select(Contact)
        .where(Contact.account_id == unit.actor.account_id, Contact.held_until <= unit.clock.now())
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    contacts = await unit.all(overdue)
    for contact in contacts:
        evidence = await _release(unit, contact, "review_expired")
        await opt_out(unit, contact, "", SuppressionReason.review_expired, evidence)
    return [contact.id for contact in contacts]


async def find_status(unit: UnitOfWork, phone: str) -> ContactStatus:
    """Return the status of a contact with a phone, without regard to holds.

    It is read after the contact was added or `queries.hold_additions`: an opt-out that is recorded meanwhile would be
    missed otherwise.
    """
    suppressed = await consents.find_suppression(unit, phone)
    return ContactStatus.opted_out if suppressed else ContactStatus.active


async def _release(unit: UnitOfWork, contact: Contact, method: str = "") -> Evidence:
    """End a contact's hold; return the held reply as evidence."""
    if contact.held_until is None:
        return Evidence(method)
    contact.held_until = None
    return await consent.release(unit, contact.phone, method)


async def _set(unit: UnitOfWork, contact: Contact, status: ContactStatus) -> None:
    await _release(unit, contact)
    contact.status = status
    await _save(unit, contact)


async def _save(unit: UnitOfWork, contact: Contact) -> None:
    contact.updated_at = unit.clock.now()
    await unit.save(contact)


def _keyword(evidence: Evidence) -> str:
    """Return the words of the person, of a longer text the first whole ones."""
    words = evidence.text.strip()
    if len(words) <= MAX_KEYWORD:
        return words
    kept = words[: MAX_KEYWORD - 1]
    return f"{kept.rpartition(' ')[0] or kept}…"
