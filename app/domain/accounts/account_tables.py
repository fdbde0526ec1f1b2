"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

UNLINK_SUCCESSORS = "UPDATE api_keys SET successor_id = NULL WHERE id = ANY($1::bigint[])"

DELETED = (
    DeletedTable("waiting_mails"),
    DeletedTable("invitations"),
    DeletedTable("creators", which="key_id IS NOT NULL"),
    DeletedTable("creators", which="key_id IS NULL"),
    DeletedTable("api_keys", which="successor_id IS NOT NULL", statements=(UNLINK_SUCCESSORS,)),
    DeletedTable("api_keys"),
    DeletedTable("password_links", parent="users", key="user_id"),
    DeletedTable("sessions", parent="users", key="user_id"),
    DeletedTable("audit_entries", BY_ID),
    DeletedTable("users"),
)

EXPORTED = (
    ExportedTable("accounts", owner="id"),
    ExportedTable("users", frozenset({"password_hash"})),
    ExportedTable("invitations", frozenset({"hash"})),
    ExportedTable("sessions", frozenset({"hash"}), parent="users", key="user_id"),
    ExportedTable("audit_entries", order=BY_ID),
    ExportedTable("api_keys", frozenset({"hash"})),
)
