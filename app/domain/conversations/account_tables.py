"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import DeletedTable, ExportedTable

DELETED = (DeletedTable("conversations", ("last_message_at", "id")),)

EXPORTED = (ExportedTable("conversations", parent="contacts", key="contact_id"),)
