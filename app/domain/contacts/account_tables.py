"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import PHYSICAL, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("contacts", ("phone",)),
    DeletedTable("contact_tags", ("tag", "contact_id"), row=PHYSICAL),
    DeletedTable("contact_totals", row=PHYSICAL),
    DeletedTable("custom_fields", ("key",)),
)

EXPORTED = (
    ExportedTable("contacts", frozenset({"searched"}), order=("created_at", "id")),
    ExportedTable("custom_fields"),
)
