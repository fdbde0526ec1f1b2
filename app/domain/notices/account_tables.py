"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (DeletedTable("notices", BY_ID), DeletedTable("notice_preferences", BY_ID))

EXPORTED = (ExportedTable("notices", order=BY_ID), ExportedTable("notice_preferences", order=BY_ID))
