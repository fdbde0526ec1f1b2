"""No index of debits by time: `ledger_days` has their sums, and each debit has one index less to be entered in."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""

OLD = {
    "ix_ledger_entries_texts": (
        "ledger_entries (account_id, created_at) INCLUDE (amount) WHERE message_id IS NOT NULL"
    ),
}


def upgrade() -> None:
    limit_locks()
    drop_indexes(*OLD)


def downgrade() -> None:
    limit_locks()
    build_indexes(OLD)
