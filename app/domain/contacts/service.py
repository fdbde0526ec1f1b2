"""Create, change and find contacts."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from app.domain.accounts import users
from app.domain.accounts.models import Account
from app.domain.consent.errors import ContactOptedOut
from app.domain.consent.models import SuppressionReason
from app.domain.consent.service import Evidence
from app.domain.contacts import custom_fields, opt_outs, queries
from app.domain.contacts.events import ContactChanged, NewContact, Snapshot, changes
from app.domain.contacts.models import Contact, ContactFields, ContactStatus, TimeZoneSource
from app.domain.events import outbox
from app.domain.kernel import phone as phones
from app.domain.kernel import time_zones
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
MAX_NAME, MAX_EMAIL, MAX_TAG, MAX_TAGS = 100, 254, 64, 100
EMPTY: dict[str, Any] = {"tags": [], "pipeline_stage": "new_lead", "dnd_sms": False, "custom_fields": {}}


async def create(unit: UnitOfWork, fields: ContactFields) -> Contact:
    """Add a contact; raise `Conflict` when the account has one with that phone.

    A new contact with a suppressed phone is opted out; the status `active` for it raises `ContactOptedOut`.
    """
    values = await _checked(unit, fields)
    if not values.get("phone"):
        raise InvalidInput(reason="phone is required.", field="phone")
    contact = await _insert(unit, values, fields.get("status"))
    if contact is None:
        existing = await queries.find_by_phone(unit, values["phone"])
        raise Conflict(reason=f"A contact with {values['phone']} exists: id {existing.id if existing else 'unknown'}.")
    return contact


async def upsert(unit: UnitOfWork, fields: ContactFields, source_if_new: str) -> Contact:
    """Add a contact, or update the one with that phone; null fields are ignored.

    A new contact without a source gets `source_if_new`. Raises `ContactOptedOut` as `update` does.
    """
    given = cast("ContactFields", {name: value for name, value in fields.items() if value is not None})
    new = await _checked(unit, cast("ContactFields", {"source": source_if_new, **given}))
    if not new.get("phone"):
        raise InvalidInput(reason="phone is required.", field="phone")
    added = await _insert(unit, new, given.get("status"))
    if added is not None:
        return added
    known = await queries.find_by_phone(unit, new["phone"], lock=True)
    if known is None:
        raise Conflict(reason=f"The contact with {new['phone']} was deleted. Try again.")
    return await update(unit, known.id, given)


async def get(unit: UnitOfWork, id: int | None, phone: str | None, *, id_field: str = "id") -> Contact:
    """Return the contact with an id, or with a phone in any spelling.

    Raises `InvalidInput` about `id_field` unless one of the two is given, and `NotFound`.
    """
    if (id is None) == (not phone):
        raise InvalidInput(reason="Give either the id or the phone of the contact.", field=id_field)
    return await queries.get(unit, id) if id is not None else await get_by_phone(unit, phone or "")


async def get_by_phone(unit: UnitOfWork, phone: str) -> Contact:
    """Return the contact with a phone in any spelling; raise `NotFound`."""
    normal = await normalize(unit, phone)
    contact = await queries.find_by_phone(unit, normal)
    if contact is None:
        raise NotFound(kind="contact", id=normal, by="phone")
    return contact


async def normalize(unit: UnitOfWork, phone: str) -> str:
    """Return a phone in any spelling in E.164; raise `InvalidPhone`."""
    return phones.normalize(phone, await _region(unit))


async def find_exact(unit: UnitOfWork, phone: str | None, email: str | None) -> Sequence[Contact]:
    """Return the contacts with a phone in any spelling or an e-mail address; raise `InvalidInput` without both."""
    if not phone and not email:
        raise InvalidInput(reason="Give a phone or an email to search for.", field="phone")
    normal = phones.normalize(_with_plus(phone), await _region(unit)) if phone else None
    return await queries.find_exact(unit, normal, email.strip() if email else None)


async def find_or_create(unit: UnitOfWork, phone: str, source: str) -> Contact:
    """Return the contact with an E.164 phone, locked for a change; add it if it does not exist."""
    contact = await queries.find_by_phone(unit, phone, lock=True)
    if contact is None:
        await _insert(unit, {"phone": phone, "source": source})
        contact = await queries.find_by_phone(unit, phone, lock=True)
    assert contact is not None
    return contact


async def update(unit: UnitOfWork, id: int, fields: ContactFields) -> Contact:
    """Change the given fields of a contact, and record events of the changes.

    `status` applies after the other changes, a new phone included. Raises `ContactOptedOut` for `active` when the phone
    has opted out.
    """
    for name in ("phone", "status"):
        if fields.get(name, name) is None:
            raise InvalidInput(reason=f"{name} must not be null. Leave it out to keep the present value.", field=name)
    values = await _checked(unit, fields)
    contact = await queries.get(unit, id, lock=True)
    before, details = Snapshot.of(contact), _details(contact)
    if "phone" in values:
        await change_phone(unit, contact, values.pop("phone"))
    if "custom_fields" in values:
        values["custom_fields"] = custom_fields.merge(contact.custom_fields, values["custom_fields"])
    for name, value in values.items():
        setattr(contact, name, value)
    contact.updated_at = unit.clock.now()
    await unit.save(contact)
    events = changes(contact, before, unit.clock.now())
    for event in events:
        outbox.record(unit, event, contact.id)
    if not events and _details(contact) != details:
        outbox.record(unit, ContactChanged.of(unit, contact), contact.id)
    await _set_status(unit, contact, fields.get("status"))
    return contact


async def assign(unit: UnitOfWork, id: int, assignee_id: int | None) -> Contact:
    """Assign a contact to a user of the account, or to none; raise `NotFound`."""
    if assignee_id is not None:
        await users.get(unit, assignee_id)
    contact = await queries.get(unit, id, lock=True)
    if contact.assignee_id != assignee_id:
        outbox.record(unit, ContactChanged.of(unit, contact), contact.id)
    contact.assignee_id, contact.updated_at = assignee_id, unit.clock.now()
    await unit.save(contact)
    return contact


async def change_phone(unit: UnitOfWork, contact: Contact, phone: str) -> None:
    """Change the E.164 phone of a locked contact, and set its status by the suppression of the new phone.

    No other statement changes `contacts.phone`. A hold of the old phone becomes an opt-out of it. Raises `Conflict`
    if another contact has the phone.
    """
    if phone == contact.phone:
        return
    holder = await queries.find_by_phone(unit, phone)
    if holder is not None:
        raise Conflict(reason=f"A contact with {phone} exists: id {holder.id}.")
    await opt_outs.close_hold(unit, contact, SuppressionReason.phone_changed)
    await queries.hold_additions(unit)
    contact.status = await opt_outs.find_status(unit, phone)
    contact.phone, contact.phone_changed_at = phone, func.clock_timestamp()  # later than every enrollment before
    contact.reach = None
    try:
        await unit.save(contact)
    except IntegrityError:  # a concurrent transaction added the phone
        raise Conflict(reason=f"A contact with {phone} exists.") from None


async def add_tag(unit: UnitOfWork, id: int, tag: str) -> Contact:
    """Add a tag to a contact. Idempotent."""
    if not tag.strip():
        raise InvalidInput(reason="A tag must not be empty.", field="tag")
    contact = await queries.get(unit, id, lock=True)
    return await update(unit, id, {"tags": [*contact.tags, tag]})


async def remove_tag(unit: UnitOfWork, id: int, tag: str) -> Contact:
    """Remove a tag from a contact. Idempotent."""
    contact = await queries.get(unit, id, lock=True)
    return await update(unit, id, {"tags": [kept for kept in contact.tags if kept != tag.strip()]})


def _details(contact: Contact) -> tuple[Any, ...]:
    """Return the fields whose changes have no event of their own."""
    name = contact.first_name, contact.last_name, contact.email
    return *name, contact.phone, contact.time_zone, contact.source, contact.custom_fields


async def _insert(unit: UnitOfWork, values: dict[str, Any], wanted: ContactStatus | None = None) -> Contact | None:
    row = {"account_id": unit.actor.account_id, "status": ContactStatus.active, **values}
    row["custom_fields"] = custom_fields.merge({}, values.get("custom_fields", {}))
    added = await unit.execute(
        insert(Contact).values(row).on_conflict_do_nothing(index_elements=["account_id", "phone"]).returning(Contact)
    )
    contact = cast("Contact | None", added.scalar_one_or_none())
    if contact is not None:
        contact.status = await opt_outs.find_status(unit, contact.phone)
        await unit.save(contact)
        outbox.record(unit, replace(NewContact.of(contact), status=wanted or contact.status), contact.id)
        await _set_status(unit, contact, wanted)
    return contact


async def _set_status(unit: UnitOfWork, contact: Contact, wanted: ContactStatus | None) -> None:
    """Record an opt-out given as a status; raise `ContactOptedOut` for `active` on an opted-out contact."""
    if wanted is None or wanted == contact.status:
        return
    if wanted is ContactStatus.active:
        raise ContactOptedOut()
    await opt_outs.opt_out(unit, contact, "", SuppressionReason.api, Evidence("api", f"status: {wanted}"))


async def _checked(unit: UnitOfWork, fields: ContactFields) -> dict[str, Any]:
    """Return the normalized fields; raise `InvalidInput` or `InvalidPhone`."""
    stored = ((name, value) for name, value in fields.items() if name != "status")
    values: dict[str, Any] = {name: EMPTY.get(name, "") if value is None else value for name, value in stored}
    if "phone" in values:
        values["phone"] = phones.normalize(values["phone"], await _region(unit))
    for name in ("first_name", "last_name", "source", "email"):
        if name in values:
            values[name] = clean(name, values[name])
    if "tags" in values:
        values["tags"] = clean_tags(values["tags"])
    if "custom_fields" in values:
        values["custom_fields"] = await custom_fields.check(unit, values["custom_fields"])
    return _with_time_zone(values)


def _with_time_zone(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields with a checked time zone and its source; a source alone changes nothing."""
    source = values.pop("time_zone_source", TimeZoneSource.user)
    if "time_zone" not in values:
        return values
    zone = time_zones.checked(values["time_zone"]) if values["time_zone"] else None
    return values | {"time_zone": zone, "time_zone_source": zone and source}


async def _region(unit: UnitOfWork) -> str | None:
    return await unit.one(select(Account.region).where(Account.id == unit.actor.account_id))


def _with_plus(phone: str) -> str:
    """Return a phone with its plus sign, which an unencoded query string turns into a space."""
    return f"+{phone[1:]}" if phone.startswith(" ") else phone


def clean_text(name: str, value: str, limit: int) -> str:
    """Return a trimmed text; raise `InvalidInput` for a long one."""
    value = value.strip()
    if len(value) > limit:
        raise InvalidInput(
            reason=f"{name} must have at most {limit} characters.", field="tags" if name == "A tag" else name
        )
    return value


def clean(name: str, value: str) -> str:
    """Return a trimmed name, source or e-mail address, by the name of its field; raise `InvalidInput`."""
    return clean_email(value) if name == "email" else clean_text(name, value, MAX_NAME)


def clean_email(value: str) -> str:
    """Return a trimmed e-mail address; raise `InvalidInput`."""
    value = clean_text("email", value, MAX_EMAIL)
    if value and not EMAIL.fullmatch(value):
        raise InvalidInput(reason=f"email must be an address such as ann@example.com, not '{value}'.", field="email")
    return value


def clean_tags(values: list[str]) -> list[str]:
    """Return the distinct tags without empty ones, which forms send for empty fields; raise `InvalidInput`."""
    tags = [tag for tag in dict.fromkeys(clean_text("A tag", value, MAX_TAG) for value in values) if tag]
    if len(tags) > MAX_TAGS:
        raise InvalidInput(reason=f"A contact has at most {MAX_TAGS} tags.", field="tags")
    return tags
