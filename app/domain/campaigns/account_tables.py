"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("campaign_recipients", BY_ID, parent="campaigns", key="campaign_id"),
    DeletedTable("campaign_counts", BY_ID, parent="campaigns", key="campaign_id"),
    DeletedTable("campaigns", BY_ID),
)

EXPORTED = (
    ExportedTable("campaigns", order=BY_ID),
    ExportedTable("campaign_recipients", parent="campaigns", key="campaign_id"),
)
