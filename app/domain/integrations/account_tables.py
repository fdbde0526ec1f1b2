"""Tables of the area that the deletion of an account or an integration empties, and an export contains."""

from app.domain.integrations.leftovers import LeftoverTable
from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("booking_texts", parent="bookings", key="booking_id"),
    DeletedTable("bookings", BY_ID),
    DeletedTable("integration_events", BY_ID),
    DeletedTable("integrations", BY_ID),
)

LEFT = (LeftoverTable("bookings", "external_id"), LeftoverTable("integration_events", "id"))
"""The tables with rows of integrations; the texts about a booking are deleted with it."""

EXPORTED = (
    ExportedTable("integrations", frozenset({"secret", "previous_secret"}), order=BY_ID),
    ExportedTable("integration_events", order=BY_ID),
    ExportedTable("bookings", order=BY_ID),
    ExportedTable("booking_texts", parent="bookings", key="booking_id"),
)
