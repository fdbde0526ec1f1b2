"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("booking_texts", parent="bookings", key="booking_id"),
    DeletedTable("bookings", BY_ID),
    DeletedTable("integration_events", BY_ID),
    DeletedTable("integrations", BY_ID),
)

EXPORTED = (
    ExportedTable("integrations", frozenset({"secret", "previous_secret"}), order=BY_ID),
    ExportedTable("integration_events", order=BY_ID),
    ExportedTable("bookings", order=BY_ID),
    ExportedTable("booking_texts", parent="bookings", key="booking_id"),
)
