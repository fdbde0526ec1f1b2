"""Thresholds of balances, and indexes of the ledger for filtered lists, which debits of texts barely pay for."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0030"
down_revision = "0024"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_balance_alerts_watched": "balance_alerts (account_id) WHERE warned_at IS NULL",
    "ix_ledger_entries_others": "ledger_entries (account_id, id DESC) WHERE type <> 'debit'",
    "ix_ledger_entries_created_at": "ledger_entries USING brin (created_at)",
}


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "balance_alerts",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("threshold", sa.BigInteger(), nullable=False),
        sa.Column("warned_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_balance_alerts_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_balance_alerts")),
        sa.UniqueConstraint("account_id", name=op.f("uq_balance_alerts_account_id")),
        sa.CheckConstraint("threshold > 0", name=op.f("ck_balance_alerts_threshold_positive")),
    )
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
    limit_locks()
    op.drop_table("balance_alerts")
