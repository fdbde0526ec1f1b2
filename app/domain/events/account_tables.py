"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("outbox", ("event_id",)),
    DeletedTable("failed_reactions", ("event_id", "reaction")),
    DeletedTable("events", BY_ID),
)

EXPORTED = (ExportedTable("events", order=BY_ID),)
