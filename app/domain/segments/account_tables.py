"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (DeletedTable("segments", BY_ID),)

EXPORTED = (ExportedTable("segments", order=BY_ID),)
