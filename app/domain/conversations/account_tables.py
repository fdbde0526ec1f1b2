"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("conversation_entries", BY_ID, parent="conversations", key="conversation_id"),
    DeletedTable("conversations", ("last_message_at", "id")),
)

EXPORTED = (
    ExportedTable("conversations", parent="contacts", key="contact_id"),
    ExportedTable("conversation_entries", parent="conversations", key="conversation_id"),
)
