"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("automation_runs", BY_ID),
    DeletedTable("automations", BY_ID),
    DeletedTable("watched_keywords", ("keyword",)),
)

EXPORTED = (
    ExportedTable("watched_keywords"),
    ExportedTable("automations", order=BY_ID),
    ExportedTable("automation_runs", order=BY_ID),
)
