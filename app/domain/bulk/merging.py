"""Adds and changes the contacts of a chunk of an import."""

from collections.abc import Collection, Sequence
from typing import Any

from app.domain.bulk.candidates import Candidate
from app.domain.bulk.import_rules import Existing, Import, Line, Outcome
from app.domain.consent import queries as consents
from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind
from app.domain.consent.service import Evidence
from app.domain.contacts import additions, loading
from app.domain.contacts.additions import AddedContact, AnyContact
from app.domain.contacts.events import NewContact, Snapshot, changes
from app.domain.contacts.models import Contact, ContactStatus
from app.domain.contacts.service import MAX_TAGS
from app.domain.conversations import review
from app.domain.events import outbox
from app.domain.kernel.events import Event
from app.domain.kernel.unit_of_work import UnitOfWork

METHOD = "import"
OPTED_OUT = "The status of the row is opted_out."
STAYS = "The phone has opted out, and stays opted out."


def prepare(candidate: Candidate, wanted: Import) -> Candidate:
    """Give a candidate the contact to add where no contact has its phone; return the candidate."""
    contact = AddedContact(candidate.phone, source=wanted.source, custom_fields=candidate.custom)
    for name, value in candidate.fields.items():
        setattr(contact, name, value)
    if candidate.tags or wanted.tags:
        contact.tags = list(dict.fromkeys([*candidate.tags, *wanted.tags]))[:MAX_TAGS]
    candidate.contact = contact
    return candidate


async def apply(unit: UnitOfWork, candidates: Sequence[Candidate], wanted: Import) -> list[Line]:
    """Add and change contacts, each with its events; return the lines of the report. A dry run changes nothing."""
    phones = [each.phone for each in candidates]
    known = await _lock(unit, phones)
    suppressed = await consents.find_suppressed(unit, phones)
    new = [_mark(each.contact, suppressed) for each in candidates if each.phone not in known]
    if not wanted.dry_run:
        new = await additions.add_many(unit, new, _events_of)
        known |= await _lock(unit, set(phones) - known.keys() - {each.phone for each in new})
        suppressed = await consents.find_suppressed(unit, phones)  # opt-outs of the phones wait from now on
    added = {each.phone: each for each in new}
    outcomes = dict.fromkeys(added, Outcome.created)
    outcomes |= await _update(unit, [each for each in candidates if each.phone in known], known, wanted)
    everyone: dict[str, AnyContact] = {**known, **added}
    if not wanted.dry_run:
        await _record_consent(unit, candidates, everyone, suppressed, wanted)
    return [_line(each, everyone[each.phone], outcomes[each.phone], suppressed) for each in candidates]


async def _lock(unit: UnitOfWork, phones: Collection[str]) -> dict[str, Contact]:
    return {each.phone: each for each in await loading.lock_phones(unit, phones)}


def _mark(contact: AddedContact, suppressed: set[str]) -> AddedContact:
    if contact.phone in suppressed:
        contact.status = ContactStatus.opted_out
    return contact


def _events_of(contact: AddedContact) -> Sequence[Event]:
    return [NewContact.of(contact)]


async def _update(
    unit: UnitOfWork, candidates: Sequence[Candidate], known: dict[str, Contact], wanted: Import
) -> dict[str, Outcome]:
    outcomes, changed, silenced = dict[str, Outcome](), list[Contact](), list[Contact]()
    events, now = list[tuple[Event, int]](), unit.clock.now()
    for candidate in candidates:
        contact = known[candidate.phone]
        before, facts = Snapshot.of(contact), _facts(contact)
        if wanted.existing is not Existing.skip:
            _change(contact, candidate, wanted)
        outcomes[candidate.phone] = Outcome.unchanged if _facts(contact) == facts else Outcome.updated
        if _facts(contact) != facts:
            changed.append(contact)
            silenced += [contact] if contact.dnd_sms and not before.dnd_sms else []
            events += [(event, contact.id) for event in changes(contact, before, now)]
    if not wanted.dry_run:
        await loading.save_many(unit, changed)
        await loading.save_dnd(unit, silenced)
        await outbox.record_many(unit, events)
    return outcomes


def _facts(contact: Contact) -> tuple[Any, ...]:
    return tuple(getattr(contact, name) for name in (*loading.WRITTEN, "dnd_sms"))


def _change(contact: Contact, candidate: Candidate, wanted: Import) -> None:
    """Change a contact; where existing values are kept, only empty ones are filled. Tags are added."""
    keeps = wanted.existing is Existing.keep
    for name, value in candidate.fields.items():
        if not (keeps and getattr(contact, name)):
            setattr(contact, name, value)
    present = contact.custom_fields
    contact.custom_fields = {**candidate.custom, **present} if keeps else {**present, **candidate.custom}
    tags = list(dict.fromkeys([*contact.tags, *candidate.tags, *wanted.tags]))
    contact.tags = tags[: max(MAX_TAGS, len(contact.tags))]


async def _record_consent(
    unit: UnitOfWork,
    candidates: Sequence[Candidate],
    contacts: dict[str, AnyContact],
    suppressed: set[str],
    wanted: Import,
) -> None:
    """Opt out the persons whom the file states as opted out, and record the consent of the others."""
    left = [contacts[each.phone] for each in candidates if each.opted_out and each.phone not in suppressed]
    await review.record_opt_outs(unit, left, Evidence(METHOD, OPTED_OUT))
    agreed = [each.phone for each in candidates if not each.opted_out and each.phone not in suppressed]
    if wanted.consent:
        await consent.record_many(unit, agreed, ConsentKind.attested, Evidence(METHOD, wanted.consent))


def _line(candidate: Candidate, contact: AnyContact, outcome: Outcome, suppressed: set[str]) -> Line:
    id = contact.id or ""
    if candidate.phone in suppressed or candidate.opted_out:
        reason = STAYS if candidate.phone in suppressed else OPTED_OUT
        return candidate.number, Outcome.suppressed, reason, id
    return candidate.number, outcome, "", id
