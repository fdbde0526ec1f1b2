"""Long jobs of accounts, uploaded files, and live updates about jobs.

Code before this revision does not know live updates without a contact.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import limit_locks

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

oldest_code = "0014"
"""The revision of the oldest code that runs on the schema after this migration."""


def _time(name: str, *, is_given: bool = False) -> sa.Column:
    now = sa.func.now() if is_given else None
    return sa.Column(name, sa.DateTime(timezone=True), server_default=now, nullable=not is_given)


def _number(name: str, default: str | None = "0") -> sa.Column:
    return sa.Column(name, sa.BigInteger(), server_default=default, nullable=default is None)


def upgrade() -> None:
    limit_locks()
    _create_jobs()
    op.create_table(
        "uploads",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        _time("created_at", is_given=True),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
    )
    op.execute("CREATE INDEX ix_uploads_account_id ON uploads (account_id, id)")
    op.execute("CREATE INDEX ix_uploads_created_at ON uploads (created_at)")
    for table, parent, owner in (
        ("upload_parts", "uploads", "upload_id"),
        ("job_parts", "account_jobs", "job_id"),
    ):
        op.create_table(
            table,
            sa.Column(owner, sa.BigInteger(), nullable=False),
            sa.Column("number", sa.BigInteger(), nullable=False),
            sa.Column("content", sa.LargeBinary(), nullable=False),
            sa.PrimaryKeyConstraint(owner, "number", name=f"pk_{table}"),
            sa.ForeignKeyConstraint([owner], [f"{parent}.id"], f"fk_{table}_{owner}_{parent}", ondelete="CASCADE"),
        )
    op.create_table(
        "job_keys",
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False),
        sa.Column("row", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "key", name="pk_job_keys"),
        sa.ForeignKeyConstraint(
            ["job_id"], ["account_jobs.id"], "fk_job_keys_job_id_account_jobs", ondelete="CASCADE"
        ),
    )
    op.alter_column("live_updates", "contact_id", nullable=True)
    op.add_column("live_updates", sa.Column("job_id", sa.BigInteger(), nullable=True))


def _create_jobs() -> None:
    op.create_table(
        "account_jobs",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        sa.Column("arguments", postgresql.JSONB(), server_default="{}", nullable=False),
        sa.Column("position", sa.Text(), server_default="", nullable=False),
        _number("total", None),
        _number("done"),
        _number("changed"),
        _number("failed"),
        sa.Column("counts", postgresql.JSONB(), server_default="{}", nullable=False),
        sa.Column("problems", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        _number("attempts"),
        *map(_time, ("retry_at", "shown_at", "advanced_at", "started_at", "finished_at")),
        _time("created_at", is_given=True),
        sa.PrimaryKeyConstraint("id", name="pk_account_jobs"),
    )
    op.execute("CREATE INDEX ix_account_jobs_account_id ON account_jobs (account_id, id DESC)")
    op.execute(
        "CREATE INDEX ix_account_jobs_unfinished ON account_jobs (account_id, id)"
        " WHERE status IN ('waiting','running')"
    )


def downgrade() -> None:
    limit_locks()
    op.execute("DELETE FROM live_updates WHERE contact_id IS NULL")
    op.drop_column("live_updates", "job_id")
    op.alter_column("live_updates", "contact_id", nullable=False)
    for table in ("job_keys", "job_parts", "upload_parts", "uploads", "account_jobs"):
        op.drop_table(table)
