"""Versions of segments, automations, AI agents and webhooks."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0093"
down_revision = "0092"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

TABLES = ("segments", "automations", "ai_agents", "webhook_subscriptions")


def upgrade() -> None:
    limit_locks()
    for table in TABLES:
        op.add_column(table, sa.Column("version", sa.BigInteger(), server_default="1", nullable=False))


def downgrade() -> None:
    limit_locks()
    for table in TABLES:
        op.drop_column(table, "version")
