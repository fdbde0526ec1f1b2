"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import DeletedTable, ExportedTable

DELETED = (DeletedTable("carrier_connections"),)

EXPORTED = (ExportedTable("carrier_connections", frozenset({"credentials", "previous_credentials"})),)
