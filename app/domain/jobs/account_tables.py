"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, PHYSICAL, DeletedTable, ExportedTable

DELETED = (
    DeletedTable("job_keys", parent="account_jobs", key="job_id", row=PHYSICAL),
    DeletedTable("job_parts", parent="account_jobs", key="job_id", row=PHYSICAL),
    DeletedTable("account_jobs", BY_ID),
    DeletedTable("upload_parts", parent="uploads", key="upload_id", row=PHYSICAL),
    DeletedTable("uploads", BY_ID),
)

EXPORTED = (ExportedTable("account_jobs", order=BY_ID),)
"""Without the files of jobs, which exist for days only."""
