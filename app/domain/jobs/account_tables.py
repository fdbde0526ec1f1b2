"""Tables of the area that the deletion of an account empties, and an export of it contains."""

from app.domain.kernel.account_tables import BY_ID, DELETE, PHYSICAL, DeletedTable, ExportedTable

DELETE_KEYS = "DELETE FROM job_keys WHERE job_id = ANY($1::bigint[])"
"""Deletes the keys of locked jobs: those that the last chunk of an import added after their table was emptied."""

DELETED = (
    DeletedTable("job_keys", parent="account_jobs", key="job_id", row=PHYSICAL),
    DeletedTable("job_parts", parent="account_jobs", key="job_id", row=PHYSICAL),
    DeletedTable("account_jobs", BY_ID, statements=(DELETE_KEYS, DELETE)),
    DeletedTable("upload_parts", parent="uploads", key="upload_id", row=PHYSICAL),
    DeletedTable("uploads", BY_ID),
)

EXPORTED = (ExportedTable("account_jobs", order=BY_ID),)
"""Without the files of jobs, which exist for days only."""
