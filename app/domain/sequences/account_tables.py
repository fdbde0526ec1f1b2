"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("sequence_enrollments", BY_ID, parent="sequences", key="sequence_id"),
    DeletedTable("sequence_steps", parent="sequences", key="sequence_id"),
    DeletedTable("sequences", BY_ID),
)

EXPORTED = (
    ExportedTable("sequences", order=BY_ID),
    ExportedTable("sequence_steps", parent="sequences", key="sequence_id"),
    ExportedTable("sequence_enrollments", parent="sequences", key="sequence_id"),
)
