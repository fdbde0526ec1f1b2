"""Whether a record has belonged to another grant of the same user and client."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0091"
down_revision = "0090"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("creators", sa.Column("is_handed_on", sa.Boolean(), server_default="false", nullable=False))


def downgrade() -> None:
    limit_locks()
    op.drop_column("creators", "is_handed_on")
