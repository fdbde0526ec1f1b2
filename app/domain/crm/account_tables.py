"""Tables of the area that the deletion of an account or an integration empties, and an export contains."""

from app.domain.accounts import sql as accounts
from app.domain.integrations.leftovers import LeftoverTable
from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    *(DeletedTable(name, BY_ID) for name in ("crm_pushes", "crm_sends", "crm_links")),
    DeletedTable("crm_connections", BY_ID, which=f"(state = 'lost' OR {accounts.is_deleted_again('account_id')})"),
)
"""The worker has an hour, from the deletion of the integrations to the second pass, to revoke the tokens."""

LEFT = (
    LeftoverTable("crm_pushes", "id"),
    LeftoverTable("crm_sends", "external_id"),
    LeftoverTable("crm_links", "external_id"),
)
"""The tables with rows of integrations."""

EXPORTED = (
    ExportedTable("crm_connections", frozenset({"tokens"}), order=BY_ID),
    ExportedTable("crm_links", order=BY_ID),
    ExportedTable("crm_pushes", order=BY_ID),
    ExportedTable("crm_sends", order=BY_ID),
)
