"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("payment_customers"),
    DeletedTable("plan_subscriptions", BY_ID),
    DeletedTable("payments", BY_ID),
)

EXPORTED = (
    ExportedTable("payments", order=BY_ID, withheld=frozenset({"url"})),
    ExportedTable("plan_subscriptions", order=BY_ID),
)
