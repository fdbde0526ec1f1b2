"""The time at which the provider is asked about a payment."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("payments", sa.Column("look_at", sa.DateTime(timezone=True), nullable=True))
    build_indexes({"ix_payments_look_at": "payments (look_at) WHERE look_at IS NOT NULL"})


def downgrade() -> None:
    limit_locks()
    op.drop_column("payments", "look_at")
