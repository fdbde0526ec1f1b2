"""The port to scheduling tools: signed webhooks become changes of bookings in neutral form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


class BadSignature(Exception):
    """A delivery is not signed with the secret, or its signature is too old."""


class Unreadable(Exception):
    """A signed delivery lacks a field that is needed, or has an invalid one; the text says which."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery of a webhook: its headers by their names in lower case, and its body as it was sent."""

    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Details:
    """The facts about a booking. Absent texts are empty; `phone` is as the attendee wrote it.

    `email` is an address of the attendee; `alias` is the one by which the tool names an attendee who gave none.
    `consent` is the field or the question of the form by which the attendee asked for texts, with its answer; None
    where the attendee asked for none. `keeps_person` is true where the tool tells neither of the two: then those of the
    booking before hold.
    """

    starts_at: datetime
    ends_at: datetime | None = None
    time_zone: str = ""
    name: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    alias: str = ""
    phone: str = ""
    consent: str | None = None
    title: str = ""
    location: str = ""
    cancel_url: str = ""
    reschedule_url: str = ""
    keeps_person: bool = False


@dataclass(frozen=True, slots=True)
class Booked:
    """A booking was made or moved. `made_at` is the tool's time of it.

    `replaces` is the booking that it was before it was moved, where the tool gives a moved one another id. `is_moved`
    is true for a moved one. `person_id` is that of a `NoShow` of its person.
    """

    external_id: str
    made_at: datetime
    details: Details
    replaces: str = ""
    is_moved: bool = False
    person_id: str = ""


@dataclass(frozen=True, slots=True)
class Canceled:
    """A booking was canceled, or ended because it was moved: `replaced_by` is the new one where the tool tells it.

    `tells_origin` is true where `replaces` is known even if it is empty.
    """

    external_id: str
    made_at: datetime
    details: Details | None = None
    replaces: str = ""
    replaced_by: str = ""
    is_moved: bool = False
    tells_origin: bool = False


@dataclass(frozen=True, slots=True)
class NoShow:
    """The attendee of a booking did not come, or did: then `is_missing` is false, and an earlier no-show is withdrawn.

    `told_at` is the tool's time of it; the latest one counts. `email` is the address of the person where the tool tells
    it: other attendees than the one of the booking change nothing. `person_id` is the id under which it is kept until
    the booking arrives, where the tool does not tell whether the person made the booking.
    """

    external_id: str
    told_at: datetime
    is_missing: bool = True
    email: str = ""
    person_id: str = ""


Change = Booked | Canceled | NoShow


@dataclass(frozen=True, slots=True)
class Notice:
    """A delivery as it was read: the tool's name of its event, and the changes; none for one that changes nothing.

    `key` identifies the event, however often it is delivered; empty where the body does not tell. `is_shared` is true
    for a body with several people: it is not kept, because the erasure of one of them would not reach it.
    """

    event: str
    changes: Sequence[Change]
    key: str = ""
    is_shared: bool = False


class SchedulingTool(Protocol):
    """A scheduling tool. Its methods make no call and keep no state."""

    @property
    def name(self) -> str:
        """Return the name of the kind, which is part of addresses."""
        ...

    @property
    def title(self) -> str:
        """Return the name that people know."""
        ...

    def verify(self, secret: str, delivery: Delivery, now: datetime) -> None:
        """Raise `BadSignature` for a delivery that the secret has not signed, or that is too old."""
        ...

    def read(self, body: bytes, consent_question: str) -> Notice:
        """Return the changes of a verified body; raise `Unreadable`.

        `consent_question` is the question of the form whose positive answer is consent; empty where there is none.
        """
        ...
