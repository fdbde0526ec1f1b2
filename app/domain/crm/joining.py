"""Takes over the records of a fetched page by few statements, where nothing here is to be changed.

The first synchronization of 100,000 contacts has hardly any others.
"""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import queries as accounts
from app.domain.consent import queries as consents
from app.domain.contacts import additions, loading
from app.domain.contacts.additions import AddedContact, AnyContact
from app.domain.contacts.events import NewContact, Snapshot, changes
from app.domain.contacts.models import Contact, ContactStatus, PipelineStage
from app.domain.crm import comparing
from app.domain.crm.comparing import PHONE, SOURCE, UNSYNCHRONIZED
from app.domain.crm.connector import CrmContact
from app.domain.crm.merging import DND
from app.domain.crm.models import CrmLink, CrmPush, CrmPushKind, CrmPushStatus
from app.domain.events import outbox
from app.domain.kernel import phone as phones
from app.domain.kernel.events import Event
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import UnitOfWork

NEW = Snapshot(PipelineStage.new_lead, dnd_sms=False, tags=())
"""A contact as it is added, before its do-not-disturb is set."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record whose values a contact can have, with its phone in E.164."""

    record: CrmContact
    phone: str
    values: Mapping[str, Any]


async def join(unit: UnitOfWork, integration_id: int, records: Sequence[CrmContact]) -> list[CrmContact]:
    """Take over records that are as their contacts are, that contacts lack, or that lack only values of contacts.

    Returns the other records, which are to be compared one by one: such as those whose do-not-disturb differs, and new
    ones of opt-outs.
    """
    candidates = _unique(await _find_candidates(unit, records))
    suppressed = await consents.find_suppressed(unit, [each.phone for each in candidates.values()])
    known = await _lock(unit, candidates)
    links = await _find_links(unit, integration_id, records, known.values())
    ids = {id for link in links for id in (link.external_id, link.contact_id) if id}
    linked = {link.external_id: link for link in links}
    whole = [each for id, each in candidates.items() if _is_free(each, known.get(each.phone), linked.get(id), ids)]
    silenced = await _take_dnd(unit, [each for each in whole if each.phone not in suppressed], known, linked)
    done = {id for id, each in candidates.items() if _is_agreed(each, known.get(each.phone), linked.get(id))}
    unlinked = [each for id, each in candidates.items() if not {id, _id(known.get(each.phone))} & ids]
    free = [each for each in unlinked if each.phone not in suppressed]
    added = await _add(unit, [each for each in free if each.phone not in known])
    joined = [(each, contact) for each in free if (contact := (known | added).get(each.phone)) and _fits(each, contact)]
    await _link(unit, integration_id, joined)
    equal = [contact for each, contact in silenced if comparing.values_of(contact) == each.values]
    await _drop_echoes(unit, integration_id, [*added.values(), *equal])
    done |= {each.record.external_id for each, _ in joined}
    return [record for record in records if record.external_id not in done]


async def _find_candidates(unit: UnitOfWork, records: Sequence[CrmContact]) -> list[Candidate]:
    region = (await accounts.get_own(unit)).region
    found = list[Candidate]()
    for record in records:
        values, refused = comparing.check(record)
        try:
            phone = phones.normalize(record.phone, region)
        except InvalidPhone:
            continue
        if not refused:
            found.append(Candidate(record, phone, values))
    return found


def _unique(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    """Return the first candidate of each phone, by the ids of the records."""
    by_phone = {each.phone: each for each in reversed(candidates)}
    return {each.record.external_id: each for each in candidates if by_phone[each.phone] is each}


async def _lock(unit: UnitOfWork, candidates: Mapping[str, Candidate]) -> dict[str, Contact]:
    wanted = [each.phone for each in candidates.values()]
    return {each.phone: each for each in await loading.lock_phones(unit, wanted)}


async def _find_links(
    unit: UnitOfWork, integration_id: int, records: Sequence[CrmContact], contacts: Collection[Contact]
) -> Sequence[CrmLink]:
    ids = [each.external_id for each in records]
    named = CrmLink.external_id.in_(ids) | CrmLink.contact_id.in_([each.id for each in contacts])
    return await unit.all(select(CrmLink).where(CrmLink.integration_id == integration_id, named))


def _is_free(candidate: Candidate, contact: Contact | None, link: CrmLink | None, ids: Set[str | int]) -> bool:
    """Return whether a record is linked with the contact that has its phone, or neither of both is linked."""
    if contact is None:
        return False
    if link is None:
        return not {candidate.record.external_id, contact.id} & ids
    return link.contact_id == contact.id and not link.is_deleted


async def _take_dnd(
    unit: UnitOfWork, candidates: Sequence[Candidate], known: Mapping[str, Contact], linked: Mapping[str, CrmLink]
) -> list[tuple[Candidate, Contact]]:
    """Take over do-not-disturb where nothing else differs; return the changed contacts with their records.

    It makes the contacts newer than their records, so that `merge` could no longer tell which of other values is newer.

    The agreed values of links are written with them.
    """
    found = [(each, known[each.phone], linked.get(each.record.external_id)) for each in candidates]
    changed = [each for each in found if _is_dnd_of_crm(*each)]
    contacts, links = [contact for _, contact, _ in changed], [link for _, _, link in changed if link]
    now, before = unit.clock.now(), [Snapshot.of(contact) for contact in contacts]
    for each, contact, link in changed:
        contact.dnd_sms = each.values[DND]
        if link is not None:
            link.fields = {**link.fields, DND: contact.dnd_sms}
    await loading.save_dnd(unit, contacts)
    if links:
        await unit.save(*links)
    events = [(event, each.id) for each, was in zip(contacts, before, strict=True) for event in changes(each, was, now)]
    await outbox.record_many(unit, events)
    return [(each, contact) for each, contact, _ in changed]


def _is_dnd_of_crm(candidate: Candidate, contact: Contact, link: CrmLink | None) -> bool:
    """Return whether only the do-not-disturb of a record differs, and that of its contact is as both agreed last.

    A record that is not linked yet may lack values.
    """
    agreed = link.fields.get(DND, False) if link else False
    is_ours = contact.status == ContactStatus.opted_out or contact.dnd_sms != agreed
    ours, lacking = comparing.values_of(contact), ("",) if link is None else ()
    fits = all(value in (*lacking, ours[name]) for name, value in candidate.values.items() if name != DND)
    return fits and candidate.values[DND] != contact.dnd_sms and not is_ours


def _id(contact: Contact | None) -> int | None:
    return contact.id if contact else None


def _is_agreed(candidate: Candidate, contact: Contact | None, link: CrmLink | None) -> bool:
    """Return whether a record is linked with its contact, and both are as they were when they agreed last."""
    if contact is None or link is None or link.contact_id != contact.id or link.is_deleted:
        return False
    is_as_agreed = link.fields == {PHONE: candidate.phone, **candidate.values}
    return is_as_agreed and comparing.values_of(contact) == candidate.values


def _fits(candidate: Candidate, contact: AnyContact) -> bool:
    """Return whether a record has no value that its contact lacks, and none that differs."""
    ours = comparing.values_of(contact)
    return all(value in ("", ours[name]) for name, value in candidate.values.items())


async def _add(unit: UnitOfWork, candidates: Sequence[Candidate]) -> dict[str, AddedContact]:
    """Add contacts, each with its events; a phone that another transaction added meanwhile is left out."""
    now = unit.clock.now()

    def events_of(contact: AddedContact) -> list[Event]:
        return [NewContact.of(contact), *changes(contact, NEW, now)]

    added = await additions.add_many(unit, [_new(each) for each in candidates], events_of)
    return {each.phone: each for each in added}


def _new(candidate: Candidate) -> AddedContact:
    values = {("dnd_sms" if name == DND else name): value for name, value in candidate.values.items()}
    return AddedContact(candidate.phone, source=SOURCE, **values)


async def _link(unit: UnitOfWork, integration_id: int, joined: Sequence[tuple[Candidate, AnyContact]]) -> None:
    """Link records with their contacts, and push the values that records lack."""
    rows = [
        {
            "account_id": unit.actor.account_id,
            "integration_id": integration_id,
            "contact_id": contact.id,
            "external_id": each.record.external_id,
            "fields": {PHONE: contact.phone, **_agreed(each, contact)},
        }
        for each, contact in joined
    ]
    if rows:
        await unit.execute(insert(CrmLink).values(rows))
    for each, contact in joined:
        if comparing.values_of(contact) != each.values:
            await comparing.add_push(unit, integration_id, contact.id)


def _agreed(candidate: Candidate, contact: AnyContact) -> dict[str, Any]:
    ours = comparing.values_of(contact)
    return {name: value for name, value in candidate.values.items() if value == ours[name]}


async def _drop_echoes(unit: UnitOfWork, integration_id: int, added: Collection[AnyContact]) -> None:
    """Delete the pushes of contacts that the CRM itself has just given."""
    own = CrmPush.integration_id == integration_id, CrmPush.contact_id.in_([each.id for each in added])
    waiting = CrmPush.kind == CrmPushKind.contact, CrmPush.status == CrmPushStatus.waiting
    if added:
        await unit.execute(delete(CrmPush).where(*own, *waiting).execution_options(**UNSYNCHRONIZED))
