"""Counts of the attempts of webhooks by the hour."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "webhook_hours",
        sa.Column("subscription_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("bucket", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("successes", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["webhook_subscriptions.id"],
            name="fk_webhook_hours_subscription_id_webhook_subscriptions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("subscription_id", "hour", "bucket", name="pk_webhook_hours"),
    )
    op.execute("CREATE INDEX ix_webhook_hours_hour ON webhook_hours (hour)")


def downgrade() -> None:
    limit_locks()
    op.drop_table("webhook_hours")
