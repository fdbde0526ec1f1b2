"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

EMPTY_SUPPRESSIONS = "UPDATE suppressions SET keyword = '' WHERE id = ANY($1::bigint[])"

DELETED = (
    DeletedTable("consents", ("phone", "id")),
    DeletedTable(
        "suppressions", ("phone", "scope_type", "scope_id"), which="keyword <> ''", statements=(EMPTY_SUPPRESSIONS,)
    ),
    DeletedTable("holds", ("phone",)),
    DeletedTable("opt_in_requests", BY_ID),
)

EXPORTED = (
    ExportedTable("suppressions", order=("phone", "scope_type", "scope_id")),
    ExportedTable("consents", order=("phone", "id")),
    ExportedTable("holds", order=("phone",)),
    ExportedTable("opt_in_requests", order=BY_ID),
)
