"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (DeletedTable("carrier_lookups", BY_ID), DeletedTable("carrier_connections"))

EXPORTED = (
    ExportedTable("carrier_lookups", order=BY_ID),
    ExportedTable("carrier_connections", frozenset({"credentials", "previous_credentials"})),
)
