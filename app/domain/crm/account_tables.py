"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.accounts import sql as accounts
from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    *(DeletedTable(name, BY_ID) for name in ("crm_pushes", "crm_sends", "crm_links")),
    DeletedTable("crm_connections", BY_ID, which=f"(state = 'lost' OR {accounts.is_deleted_again('account_id')})"),
)
"""The worker has an hour, from the deletion of the integrations to the second pass, to revoke the tokens."""

EXPORTED = (
    ExportedTable("crm_connections", frozenset({"tokens"}), order=BY_ID),
    ExportedTable("crm_links", order=BY_ID),
    ExportedTable("crm_pushes", order=BY_ID),
    ExportedTable("crm_sends", order=BY_ID),
)
