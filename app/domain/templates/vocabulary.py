"""The placeholders of texts to contacts, joined from the areas that supply them."""

from app.domain.accounts.placeholders import PLACEHOLDERS as ACCOUNT_PLACEHOLDERS
from app.domain.contacts import placeholders as contacts
from app.domain.kernel.placeholders import PlaceholderName, ValueKind, Vocabulary
from app.domain.kernel.unit_of_work import UnitOfWork

OF_CONTACTS = Vocabulary((*contacts.PLACEHOLDERS, *ACCOUNT_PLACEHOLDERS))
"""The placeholders of every account and every text."""


OF_BOOKINGS = (
    PlaceholderName("booking.title", "The title of the booking.", "Consultation"),
    PlaceholderName(
        "booking.start", "The beginning, in the attendee's time zone.", "2026-11-03T14:30:00-05:00", ValueKind.time
    ),
    PlaceholderName(
        "booking.end", "The end, in the attendee's time zone.", "2026-11-03T15:00:00-05:00", ValueKind.time
    ),
    PlaceholderName("booking.time_zone", "The short name of that time zone.", "EST"),
    PlaceholderName("booking.name", "The name that the attendee gave.", "Ann Lee"),
    PlaceholderName("booking.location", "The place or the link of the meeting.", "1 Main St"),
    PlaceholderName("booking.cancel_url", "The link to cancel it.", "https://example.com/cancel/1"),
    PlaceholderName("booking.reschedule_url", "The link to move it.", "https://example.com/move/1"),
)
"""The further placeholders of texts about bookings, which `app/domain/integrations` fills in."""


async def find(unit: UnitOfWork, *, of_bookings: bool = False) -> Vocabulary:
    """Return the placeholders of the actor's account, its custom fields among them; on request those of bookings."""
    known = OF_CONTACTS.extend(await contacts.find_custom(unit))
    return known.extend(OF_BOOKINGS) if of_bookings else known
