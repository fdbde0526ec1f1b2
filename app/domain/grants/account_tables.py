"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("oauth_grants", BY_ID),
    DeletedTable("oauth_clients"),
)

EXPORTED = (
    ExportedTable("oauth_clients", frozenset({"secret_hash", "secret_creator_id"})),
    ExportedTable("oauth_grants", order=BY_ID),
)
