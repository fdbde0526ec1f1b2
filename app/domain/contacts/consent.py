"""Opting out and in: what stops texts to a phone, what allows them again, and the record of both."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, DateTime, Text, column, delete, select, table
from sqlalchemy.dialects.postgresql import insert

from app.domain.contacts import queries
from app.domain.contacts.events import NewOptOut, who
from app.domain.contacts.models import Consent, ConsentKind, Contact, ContactStatus, Suppression
from app.domain.kernel.errors import DomainError, InvalidInput
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork

HOLD = timedelta(hours=24)
"""How long a person has to decide whether an unclear reply was an opt-out (domain rule: afterwards it is one)."""

TEXTS = table(
    "messages",
    column("id", BigInteger),
    column("account_id", BigInteger),
    column("contact_id", BigInteger),
    column("direction", Text),
    column("from_number", Text),
    column("body", Text),
    column("created_at", DateTime(timezone=True)),
).c
"""What people texted, as far as it is evidence; the area of messages stands above this one."""


class ContactOptedOut(DomainError):
    """The recipient has opted out. Only their START, or a new written consent that you record, lifts it."""

    code = "contact_opted_out"
    status = 422
    message = "{phone} has opted out and cannot be texted. Only their reply START or a new recorded consent lifts this."


class ContactDnd(DomainError):
    """The account itself has set do-not-disturb for this contact."""

    code = "contact_dnd"
    status = 422
    message = "{phone} is set to do-not-disturb. Set dnd_sms to false on the contact to text it."


class ContactHeld(DomainError):
    """The last reply may have been an opt-out; texts wait until a person has decided, for 24 hours at most."""

    code = "contact_held"
    status = 422
    message = "The last reply of {phone} may have been an opt-out. Decide on it in the conversation before texting."


@dataclass(frozen=True, slots=True)
class Evidence:
    """How a consent was given or taken back: the method, the exact words, the message that carried them."""

    method: str
    text: str = ""
    message_id: int | None = None


async def opt_out(unit: UnitOfWork, contact: Contact, keyword: str, reason: str, evidence: Evidence) -> bool:
    """Stop all texts to a contact's phone, for good; return False where they were stopped before.

    The suppression belongs to the phone, not to the contact: it outlives it (47 CFR 64.1200(a)(10)).
    """
    await _suppress(unit, contact.phone, keyword, reason, evidence)
    changed = contact.status != ContactStatus.opted_out
    if changed:
        contact.status, contact.held_until = ContactStatus.opted_out, None
        await _save(unit, contact)
        at = timestamp(unit.clock.now())
        unit.record(NewOptOut(**who(contact), opted_out_at=at, keyword=keyword), contact.id)
    return changed


async def opt_in(unit: UnitOfWork, contact: Contact, evidence: Evidence) -> bool:
    """Allow texts to a contact's phone again; return False where they were allowed."""
    changed = contact.status == ContactStatus.opted_out
    await unit.execute(
        delete(Suppression).where(Suppression.account_id == unit.actor.account_id, Suppression.phone == contact.phone)
    )
    await record(unit, contact.phone, ConsentKind.re_opt_in if changed else ConsentKind.opt_in, evidence)
    if changed or contact.held_until is not None:
        contact.status, contact.held_until = ContactStatus.active, None
        await _save(unit, contact)
    return changed


async def record_opt_out(unit: UnitOfWork, contact_id: int, method: str, text: str) -> Contact:
    """Record an opt-out that came another way than by text: by mail, on the phone, in person."""
    contact = await queries.get(unit, contact_id, lock=True)
    await opt_out(unit, contact, text.strip()[:32], "recorded", Evidence(_required(method, "method"), text))
    return contact


async def record_opt_in(unit: UnitOfWork, contact_id: int, method: str, text: str) -> Contact:
    """Record a new written consent; `text` holds the words that the person agreed to, as evidence."""
    contact = await queries.get(unit, contact_id, lock=True)
    await opt_in(unit, contact, Evidence(_required(method, "method"), _required(text, "text")))
    return contact


async def hold(unit: UnitOfWork, contact: Contact, received_at: datetime | None = None) -> bool:
    """Stop automated texts until a person has decided, or `HOLD` has passed; return False for who has opted out.

    `received_at` is the `created_at` of the unclear reply; by it, the reply is found as evidence of an opt-out.
    """
    if contact.status == ContactStatus.opted_out:
        return False
    if contact.held_until is None:
        contact.held_until = (received_at or unit.clock.now()) + HOLD
        await _save(unit, contact)
    return True


async def release_hold(unit: UnitOfWork, contact_id: int, *, opted_out: bool) -> Contact:
    """Decide on an unclear reply: it was an opt-out, or it was not."""
    contact = await queries.get(unit, contact_id, lock=True)
    if opted_out:
        await opt_out(unit, contact, "", "review", await _unclear_reply(unit, contact, "review"))
    if contact.held_until is not None:
        contact.held_until = None
        await _save(unit, contact)
    return contact


async def close_hold(unit: UnitOfWork, contact: Contact, reason: str) -> None:
    """Record an opt-out of the phone of a held contact that is about to leave it: what is unclear is never consent."""
    if contact.held_until is not None:
        await _suppress(unit, contact.phone, "", reason, await _unclear_reply(unit, contact, reason))


async def expire_holds(unit: UnitOfWork, limit: int = 100) -> list[int]:
    """Turn holds that nobody decided on into opt-outs; return the ids of their contacts."""
    overdue = (
        select(Contact)
        .where(Contact.account_id == unit.actor.account_id, Contact.held_until <= unit.clock.now())
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    contacts = await unit.all(overdue)
    for contact in contacts:
        evidence = await _unclear_reply(unit, contact, "review_expired")
        await opt_out(unit, contact, "", "review_expired", evidence)
    return [contact.id for contact in contacts]


async def record(unit: UnitOfWork, phone: str, kind: ConsentKind, evidence: Evidence) -> None:
    """Add a line to the consent record."""
    await unit.save(
        Consent(
            account_id=unit.actor.account_id,
            phone=phone,
            kind=kind,
            method=evidence.method,
            text=evidence.text,
            message_id=evidence.message_id,
            actor=unit.actor.label,
        )
    )


async def _unclear_reply(unit: UnitOfWork, contact: Contact, method: str) -> Evidence:
    """Return the reply that a contact is held for, as evidence: the one from its phone that the hold began with."""
    if contact.held_until is None:
        return Evidence(method)
    reply = select(TEXTS.body, TEXTS.id).where(
        TEXTS.account_id == unit.actor.account_id,
        TEXTS.contact_id == contact.id,
        TEXTS.direction == "inbound",
        TEXTS.from_number == contact.phone,
        TEXTS.created_at == contact.held_until - HOLD,
    )
    found = await unit.rows(reply.order_by(TEXTS.id.desc()).limit(1))
    return Evidence(method, *found[0]) if found else Evidence(method)


async def _suppress(unit: UnitOfWork, phone: str, keyword: str, reason: str, evidence: Evidence) -> None:
    suppression = {"account_id": unit.actor.account_id, "phone": phone, "reason": reason, "keyword": keyword}
    await unit.execute(insert(Suppression).values(suppression).on_conflict_do_nothing())
    kind = ConsentKind.opt_out if evidence.method == "keyword" else ConsentKind.revoked_other
    await record(unit, phone, kind, evidence)


async def _save(unit: UnitOfWork, contact: Contact) -> None:
    contact.updated_at = unit.clock.now()
    await unit.save(contact)


def _required(value: str, name: str) -> str:
    if not value.strip():
        raise InvalidInput(reason=f"{name} must not be empty.")
    return value.strip()
