"""Events of contacts."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from app.domain.accounts.scopes import Scope
from app.domain.consent.models import OptInRequest
from app.domain.contacts.additions import AnyContact
from app.domain.contacts.models import Contact
from app.domain.kernel.events import Event, UpdateKind, event, timestamp
from app.domain.kernel.unit_of_work import UnitOfWork

ANN = {
    "contact_id": 4821,
    "first_name": "Ann",
    "last_name": "Lee",
    "phone": "+12025550143",
    "email": "ann@example.com",
}
AT = "2026-11-21T09:30:00.000Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactEvent(Event):
    """An event about one contact; its payload begins with the contact's id, name, phone and e-mail address."""

    scope = Scope.contacts_read
    live_kind = UpdateKind.contact_changed

    contact_id: int
    first_name: str
    last_name: str
    phone: str
    email: str


class ContactKeys(TypedDict):
    """The keys that identify the contact of an event."""

    contact_id: int
    first_name: str
    last_name: str
    phone: str
    email: str


def contact_keys(contact: AnyContact) -> ContactKeys:
    """Return the keys that identify a contact in an event."""
    return {
        "contact_id": contact.id,
        "first_name": contact.first_name,
        "last_name": contact.last_name,
        "phone": contact.phone,
        "email": contact.email,
    }


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NewContact(Event):
    """A contact was added: by hand, by the API, or by a message to or from a new phone."""

    name = "new_contact"
    topic = "contact.created"
    scope = Scope.contacts_read
    live_kind = None
    example = {
        "id": 4821,
        "first_name": "Ann",
        "last_name": "Lee",
        "phone": "+12025550143",
        "email": "ann@example.com",
        "tags": ["vip"],
        "pipeline_stage": "new_lead",
        "source": "inbound_sms",
        "status": "active",
        "created_at": AT,
    }

    id: int
    first_name: str
    last_name: str
    phone: str
    email: str
    tags: list[str]
    pipeline_stage: str
    source: str
    status: str
    created_at: str

    @classmethod
    def of(cls, contact: AnyContact) -> "NewContact":
        """Return the event for a new contact."""
        return cls(
            id=contact.id,
            first_name=contact.first_name,
            last_name=contact.last_name,
            phone=contact.phone,
            email=contact.email,
            tags=list(contact.tags),
            pipeline_stage=contact.pipeline_stage,
            source=contact.source,
            status=contact.status,
            created_at=timestamp(contact.created_at),
        )


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NewOptOut(ContactEvent):
    """A contact opted out; nothing more is sent to that phone. `keyword` is the word or phrase of the opt-out."""

    name = "new_opt_out"
    topic = "contact.opted_out"
    example = {**ANN, "opted_out_at": AT, "keyword": "STOP"}

    opted_out_at: str
    keyword: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactMerged(ContactEvent):
    """Another contact, the same person, was merged into this one and deleted. It is not offered to subscribers."""

    name = "contact_merged"
    subscribable = False
    example = {**ANN, "merged_contact_id": 4822, "merged_phone": "+12025550144", "merged_at": AT}

    merged_contact_id: int
    merged_phone: str
    merged_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class OptInConfirmed(ContactEvent):
    """A contact who had texted a keyword confirmed with YES that texts are wanted."""

    name = "opt_in_confirmed"
    subscribable = False
    example = {**ANN, "keyword": "join", "confirmed_at": AT}

    keyword: str
    confirmed_at: str

    @classmethod
    def of(cls, contact: Contact, request: OptInRequest, at: datetime) -> "OptInConfirmed":
        """Return the event for a confirmed request."""
        return cls(**contact_keys(contact), keyword=request.keyword, confirmed_at=timestamp(at))


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStageChanged(ContactEvent):
    """A contact moved to another stage of the pipeline."""

    name = "pipeline_stage_changed"
    example = {**ANN, "old_stage": "new_lead", "new_stage": "qualified", "changed_at": AT}

    old_stage: str
    new_stage: str
    changed_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactTagAdded(ContactEvent):
    """A tag was added to a contact; `all_tags` are all its tags."""

    name = "contact_tag_added"
    example = {**ANN, "tag": "vip", "all_tags": ["newsletter", "vip"], "added_at": AT}

    tag: str
    all_tags: list[str]
    added_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactTagRemoved(ContactEvent):
    """A tag was removed from a contact; `all_tags` are its remaining tags."""

    name = "contact_tag_removed"
    example = {**ANN, "tag": "vip", "all_tags": ["newsletter"], "removed_at": AT}

    tag: str
    all_tags: list[str]
    removed_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactDndChanged(ContactEvent):
    """The account set or lifted do-not-disturb for a contact."""

    name = "contact_dnd_changed"
    example = {**ANN, "dnd_sms": True, "changed_at": AT}

    dnd_sms: bool
    changed_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactChanged(Event):
    """Details, the assignee or the status of a contact changed, and no other event says so.

    It is a live update, not offered to webhooks. `actor` is the label of the actor that changed it.
    """

    name = "contact_changed"
    subscribable = False
    scope = Scope.contacts_read
    live_kind = UpdateKind.contact_changed
    example = {"contact_id": 4821, "actor": "user:7"}

    contact_id: int
    actor: str

    @classmethod
    def of(cls, unit: UnitOfWork, contact: Contact) -> "ContactChanged":
        """Return the event for a contact that the unit's actor changed."""
        return cls(contact_id=contact.id, actor=unit.actor.label)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The fields of a contact before an update whose changes are events."""

    pipeline_stage: str
    dnd_sms: bool
    tags: tuple[str, ...]

    @classmethod
    def of(cls, contact: Contact) -> "Snapshot":
        """Return the present state of a contact."""
        return cls(contact.pipeline_stage, contact.dnd_sms, tuple(contact.tags))


def changes(contact: AnyContact, before: Snapshot, at: datetime) -> list[ContactEvent]:
    """Return the events of an update: one for each tag, removed tags first."""
    keys, when = contact_keys(contact), timestamp(at)
    events: list[ContactEvent] = []
    if contact.pipeline_stage != before.pipeline_stage:
        stages = before.pipeline_stage, contact.pipeline_stage
        events.append(PipelineStageChanged(**keys, old_stage=stages[0], new_stage=stages[1], changed_at=when))
    if contact.dnd_sms != before.dnd_sms:
        events.append(ContactDndChanged(**keys, dnd_sms=contact.dnd_sms, changed_at=when))
    return events + _tag_changes(contact, list(before.tags), when)


def _tag_changes(contact: AnyContact, tags: list[str], when: str) -> list[ContactEvent]:
    keys, events = contact_keys(contact), list[ContactEvent]()
    for tag in [tag for tag in tags if tag not in contact.tags]:
        tags = [kept for kept in tags if kept != tag]
        events.append(ContactTagRemoved(**keys, tag=tag, all_tags=tags, removed_at=when))
    for tag in [tag for tag in contact.tags if tag not in tags]:
        tags = [*tags, tag]
        events.append(ContactTagAdded(**keys, tag=tag, all_tags=tags, added_at=when))
    return events
