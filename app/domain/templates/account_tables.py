"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (DeletedTable("templates", BY_ID), DeletedTable("placeholder_fallbacks", ("name",)))

EXPORTED = (ExportedTable("templates", order=BY_ID), ExportedTable("placeholder_fallbacks"))
