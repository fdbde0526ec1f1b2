"""Reports of carriers on a message: their count of SMS parts, their charge, and links to the files of an MMS."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from app.db.revisions import limit_locks

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("messages", sa.Column("carrier_segments", sa.BigInteger(), nullable=True))
    op.add_column("messages", sa.Column("carrier_charge", sa.Numeric(), nullable=True))
    op.add_column("messages", sa.Column("carrier_currency", sa.Text(), nullable=True))
    op.add_column("messages", sa.Column("media", JSONB(), nullable=True))


def downgrade() -> None:
    limit_locks()
    for column in ("carrier_segments", "carrier_charge", "carrier_currency", "media"):
        op.drop_column("messages", column)
