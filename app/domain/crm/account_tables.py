"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = tuple(DeletedTable(name, BY_ID) for name in ("crm_pushes", "crm_sends", "crm_links", "crm_connections"))

EXPORTED = (
    ExportedTable("crm_connections", frozenset({"tokens"}), order=BY_ID),
    ExportedTable("crm_links", order=BY_ID),
    ExportedTable("crm_pushes", order=BY_ID),
    ExportedTable("crm_sends", order=BY_ID),
)
