"""Rules of retention: bodies of events, events, bookings that are over or never came, rotated secrets, and persons.

A booking without a contact keeps nothing of its person, whichever process or statement has left it so.
"""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

BODIES_KEPT = timedelta(days=14)
EVENTS_KEPT = timedelta(days=90)
BOOKINGS_KEPT = timedelta(days=365)

_NEVER_CAME = "updated_at < $1 AND starts_at IS NULL"
_WITH_BODY = "received_at < $1 AND body <> '' AND status <> 'waiting'"
_OF_NO_CONTACT = "updated_at < $1 AND contact_id IS NULL AND (name <> '' OR email <> '')"
_OVER = "updated_at < $1 AND coalesce(starts_at, updated_at) < $1"

_LEAVE_OUT_PERSON = """
UPDATE bookings SET title = CASE WHEN name <> '' AND position(name IN title) > 0 THEN '' ELSE title END,
  name = '', email = '', location = '', cancel_url = '', reschedule_url = ''
"""

RULES = (
    Rule(f"UPDATE integration_events SET body = '' WHERE {batch_of('integration_events', _WITH_BODY)}", BODIES_KEPT),
    Rule(f"DELETE FROM integration_events WHERE {batch_of('integration_events', 'received_at < $1')}", EVENTS_KEPT),
    Rule(f"DELETE FROM bookings WHERE {batch_of('bookings', _OVER)}", BOOKINGS_KEPT),
    Rule(f"DELETE FROM bookings WHERE {batch_of('bookings', _NEVER_CAME)}", BODIES_KEPT),
    Rule(
        "UPDATE integrations SET previous_secret = NULL, previous_until = NULL WHERE previous_until < $1", timedelta()
    ),
    Rule(f"{_LEAVE_OUT_PERSON} WHERE {batch_of('bookings', _OF_NO_CONTACT)}", timedelta()),
)
