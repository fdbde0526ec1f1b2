"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (DeletedTable("writer_calls", BY_ID),)

EXPORTED = (ExportedTable("writer_calls", order=BY_ID),)
