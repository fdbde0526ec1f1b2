"""What happens to contacts."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from app.domain.accounts.scopes import Scope
from app.domain.contacts.models import Contact
from app.domain.kernel.events import Event, event, timestamp

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
    """An event about one contact; its payload begins with the contact's id, name and addresses."""

    scope = Scope.contacts_read
    live_kind = None

    contact_id: int
    first_name: str
    last_name: str
    phone: str
    email: str


class Who(TypedDict):
    """Whom an event is about."""

    contact_id: int
    first_name: str
    last_name: str
    phone: str
    email: str


def who(contact: Contact) -> Who:
    """Return the id, names and addresses that events about a contact begin with."""
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
    def of(cls, contact: Contact) -> "NewContact":
        """Return the event for a contact just added."""
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
    """A contact told us to stop; nothing more is sent to that phone. `keyword` is what they wrote."""

    name = "new_opt_out"
    topic = "contact.opted_out"
    example = {**ANN, "opted_out_at": AT, "keyword": "STOP"}

    opted_out_at: str
    keyword: str


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
    """A contact was given a tag; `all_tags` are those it has now."""

    name = "contact_tag_added"
    example = {**ANN, "tag": "vip", "all_tags": ["newsletter", "vip"], "added_at": AT}

    tag: str
    all_tags: list[str]
    added_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactTagRemoved(ContactEvent):
    """A tag was taken from a contact; `all_tags` are those it has left."""

    name = "contact_tag_removed"
    example = {**ANN, "tag": "vip", "all_tags": ["newsletter"], "removed_at": AT}

    tag: str
    all_tags: list[str]
    removed_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ContactDndChanged(ContactEvent):
    """Somebody of the account set or lifted do-not-disturb for a contact."""

    name = "contact_dnd_changed"
    example = {**ANN, "dnd_sms": True, "changed_at": AT}

    dnd_sms: bool
    changed_at: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a contact was before an update, as far as subscribers hear of it."""

    pipeline_stage: str
    dnd_sms: bool
    tags: tuple[str, ...]

    @classmethod
    def of(cls, contact: Contact) -> "Snapshot":
        """Remember a contact as it is now."""
        return cls(contact.pipeline_stage, contact.dnd_sms, tuple(contact.tags))


def changes(contact: Contact, before: Snapshot, at: datetime) -> list[ContactEvent]:
    """Return the events of an update; tags are told one by one, the removed ones first."""
    whom, when = who(contact), timestamp(at)
    told: list[ContactEvent] = []
    if contact.pipeline_stage != before.pipeline_stage:
        stages = before.pipeline_stage, contact.pipeline_stage
        told.append(PipelineStageChanged(**whom, old_stage=stages[0], new_stage=stages[1], changed_at=when))
    if contact.dnd_sms != before.dnd_sms:
        told.append(ContactDndChanged(**whom, dnd_sms=contact.dnd_sms, changed_at=when))
    return told + _tag_changes(contact, list(before.tags), when)


def _tag_changes(contact: Contact, tags: list[str], when: str) -> list[ContactEvent]:
    whom, told = who(contact), list[ContactEvent]()
    for tag in [tag for tag in tags if tag not in contact.tags]:
        tags = [kept for kept in tags if kept != tag]
        told.append(ContactTagRemoved(**whom, tag=tag, all_tags=tags, removed_at=when))
    for tag in [tag for tag in contact.tags if tag not in tags]:
        tags = [*tags, tag]
        told.append(ContactTagAdded(**whom, tag=tag, all_tags=tags, added_at=when))
    return told
