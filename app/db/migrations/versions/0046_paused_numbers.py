"""Paused sending numbers, from which no new text is accepted."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("phone_numbers", sa.Column("is_paused", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    limit_locks()
    op.drop_column("phone_numbers", "is_paused")
