"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

EMPTY_ENTRIES = "UPDATE ledger_entries SET description = '', actor = '' WHERE ctid = ANY($1::tid[])"

DELETED = (
    DeletedTable("ledger_days", ("day", "type")),
    DeletedTable("ledger_entries", BY_ID, which="(description <> '' OR actor <> '')", statements=(EMPTY_ENTRIES,)),
)

EXPORTED = (ExportedTable("ledger_entries", order=BY_ID),)
