"""Times of the day at which steps of drip sequences are sent."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("sequence_steps", sa.Column("at_minute", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    limit_locks()
    op.drop_column("sequence_steps", "at_minute")
