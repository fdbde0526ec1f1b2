"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, PHYSICAL, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("capped_texts", ("phone", "at", "message_id"), row=PHYSICAL),
    DeletedTable("quiet_hours_rules", BY_ID),
)

EXPORTED = (ExportedTable("quiet_hours_rules", order=BY_ID),)
