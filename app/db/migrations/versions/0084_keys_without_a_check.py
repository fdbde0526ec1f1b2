"""Keys of jobs whose job PostgreSQL does not look up: the check was half of the time that a key took.

Only the chunk of a job that holds its lock inserts them, and they are deleted once the job has ended. Both tables are
locked in the order in which a chunk uses them, so that the migration and a chunk do not end in a deadlock.
"""

from alembic import op

from app.db.revisions import limit_locks

revision = "0084"
down_revision = "0083"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

NAME = "fk_job_keys_job_id_account_jobs"


def upgrade() -> None:
    limit_locks()
    op.execute("LOCK TABLE account_jobs, job_keys")
    op.drop_constraint(NAME, "job_keys", type_="foreignkey")


def downgrade() -> None:
    limit_locks()
    op.execute("DELETE FROM job_keys WHERE NOT EXISTS (SELECT FROM account_jobs WHERE id = job_id)")
    op.create_foreign_key(NAME, "job_keys", "account_jobs", ["job_id"], ["id"], ondelete="CASCADE")
