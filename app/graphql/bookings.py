"""Bookings and the texts about them, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.contacts import queries as contacts
from app.domain.integrations import models, queries
from app.domain.integrations.models import BookingStatus, BookingTextKind, BookingTextStatus
from app.domain.kernel.paging import Page
from app.graphql.contacts import Contact
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    BookingStatus,
    "The status of a booking.",
    {
        "booked": "It was neither moved nor canceled.",
        "moved": "Another booking has replaced it.",
        "canceled": "It was canceled.",
        "no_show": "The attendee did not come.",
    },
)
describe(
    BookingTextKind,
    "The kind of a text about a booking.",
    {
        "confirmation": "Sent when a booking is made.",
        "reminder_day": "Sent at the same local time on the day before.",
        "reminder_hour": "Sent an hour before.",
        "rescheduled": "Sent when a booking is moved, in place of the confirmation.",
        "canceled": "Sent when a booking is canceled.",
        "no_show": "Sent when the tool reports that the attendee did not come.",
    },
)
describe(
    BookingTextStatus,
    "State of a text about a booking.",
    {
        "waiting": "It waits for its time.",
        "sent": "It was sent.",
        "skipped": "It was not needed or not allowed; the reason says which.",
        "canceled": "The booking was moved, canceled or missed first, or a no-show was withdrawn.",
        "refused": "It could not be sent; the reason is the code of the error.",
    },
)


@strawberry.type(description="A text about a booking.")
class BookingText:
    """A text."""

    kind: BookingTextKind = strawberry.field(description="The kind of the text.")
    due_at: datetime = strawberry.field(description="The time from which it may leave.")
    expires_at: datetime = strawberry.field(description="The time after which it is not sent any more.")
    status: BookingTextStatus = strawberry.field(description="State of the text.")
    reason: str = strawberry.field(
        description="Reason why it was not sent: past, no_phone, no_consent, moved, canceled, or the code of an error."
    )
    message_id: BigInt | None = strawberry.field(description="The id of the message.")
    sent_at: datetime | None = strawberry.field(description="The time at which it was accepted for sending.")


@strawberry.type(description="A booking of an attendee in a scheduling tool.")
class Booking:
    """A booking."""

    id: BigInt = strawberry.field(description="The booking's id.")
    integration_id: BigInt = strawberry.field(description="The id of its integration.")
    external_id: str = strawberry.field(description="The id that the tool gave it.")
    replaces: str = strawberry.field(description="The tool's id of the booking that it was before it was moved.")
    status: BookingStatus = strawberry.field(description="Its status.")
    starts_at: datetime | None = strawberry.field(description="The beginning.")
    ends_at: datetime | None = strawberry.field(description="The end.")
    time_zone: str = strawberry.field(description="The attendee's time zone; empty if the tool sends none.")
    name: str = strawberry.field(description="The attendee's name; empty without a contact.")
    email: str = strawberry.field(description="The attendee's e-mail address; empty without a contact.")
    phone: str = strawberry.field(description="The attendee's phone in E.164 form; empty without one.")
    title: str = strawberry.field(description="Its title.")
    location: str = strawberry.field(description="The place or the link of the meeting.")
    cancel_url: str = strawberry.field(description="The link to cancel it.")
    reschedule_url: str = strawberry.field(description="The link to move it.")
    consent: str | None = strawberry.field(
        description="The answer in the form that is consent to texts about it; null without, and then none is sent."
    )
    contact_id: strawberry.Private[int | None]
    created_at: datetime = strawberry.field(description="The time at which its first event was applied.")
    updated_at: datetime = strawberry.field(description="The time of its last change.")

    @strawberry.field(graphql_type=list[BookingText], name="texts", description="Its texts; at most 100.")
    def planned_texts(self, info: Info) -> Load[Any]:
        """Return the texts."""
        return info.context.load_rows(queries.find_texts, "booking_id", self.id)

    @strawberry.field(
        graphql_type=Contact | None, description="The attendee as a contact.", directives=guarded("contacts:read")
    )
    def contact(self, info: Info) -> Load[Any]:
        """Return the contact."""
        return info.context.load(contacts.find_many, self.contact_id)


@strawberry.type
class BookingQuery:
    """Reading bookings."""

    @strawberry.field(
        graphql_type=Connection[Booking],
        description="The bookings of the account's contacts, the newest first.",
        directives=guarded("contacts:read"),
    )
    async def bookings(
        self,
        info: Info,
        contact_id: Annotated[BigInt | None, strawberry.argument(description="Only those of one contact.")] = None,
        status: Annotated[BookingStatus | None, strawberry.argument(description="Only those with a status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Booking]:
        """Return one page of bookings."""
        part = window(info, f"bookings {contact_id} {status}", first, after, last, before, offset)
        return await queries.find_bookings(info.context.unit, contact_id, status, part)

    @strawberry.field(
        graphql_type=Booking | None,
        description="One booking; null beside the error not_found.",
        directives=guarded("contacts:read", "not_found"),
    )
    async def booking(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The booking's id.")]
    ) -> models.Booking:
        """Return one booking."""
        return await queries.get_booking(info.context.unit, id)
