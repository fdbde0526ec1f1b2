"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, PHYSICAL, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("outbox", ("event_id",), row=PHYSICAL),
    DeletedTable("failed_reactions", ("event_id", "reaction"), row=PHYSICAL),
    DeletedTable("events", BY_ID),
)

EXPORTED = (ExportedTable("events", order=BY_ID),)
