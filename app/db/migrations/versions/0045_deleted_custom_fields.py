"""Custom fields whose values are being deleted."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("custom_fields", sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    limit_locks()
    op.drop_column("custom_fields", "deleted_at")
