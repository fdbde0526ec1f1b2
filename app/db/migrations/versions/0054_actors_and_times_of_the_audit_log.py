"""Indexes of the audit log by actor and by time."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_audit_entries_actor": "audit_entries (account_id, actor, id)",
    "ix_audit_entries_created_at": "audit_entries (account_id, created_at)",
}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
