"""The local times at which campaigns text, and the time at which each of their recipients is due."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_campaign_recipients_due_at": "campaign_recipients (campaign_id, due_at, id) WHERE due_at IS NOT NULL",
}


def upgrade() -> None:
    limit_locks()
    op.add_column("campaigns", sa.Column("local_at", sa.DateTime(timezone=False), nullable=True))
    op.add_column("campaign_recipients", sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_column("campaign_recipients", "due_at")
    op.drop_column("campaigns", "local_at")
