"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, PHYSICAL, DeletedTable, ExportedTable

EMPTY_ENTRIES = "UPDATE ledger_entries SET description = '', actor = '' WHERE id = ANY($1::bigint[])"

DELETED = (
    DeletedTable("balance_alerts"),
    DeletedTable("ledger_days", ("day", "type"), row=PHYSICAL),
    DeletedTable("ledger_entries", BY_ID, which="(description <> '' OR actor <> '')", statements=(EMPTY_ENTRIES,)),
)

EXPORTED = (ExportedTable("ledger_entries", order=BY_ID), ExportedTable("balance_alerts"))
