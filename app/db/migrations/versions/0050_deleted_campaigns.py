"""Campaigns whose recipients are being deleted, and an index of the recipients that answered."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_campaign_recipients_answered": "campaign_recipients (campaign_id)"
    " WHERE replied_at IS NOT NULL OR opted_out_at IS NOT NULL",
}


def upgrade() -> None:
    limit_locks()
    op.add_column("campaigns", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_index("ix_campaign_recipients_answered", "campaign_recipients")
    op.drop_column("campaigns", "deleted_at")
