"""The parts and the charge that a receipt states are kept while its message is unknown."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

COLUMNS = {"carrier_segments": sa.BigInteger(), "carrier_charge": sa.Numeric(), "carrier_currency": sa.Text()}


def upgrade() -> None:
    limit_locks()
    for name, kind in COLUMNS.items():
        op.add_column("unmatched_receipts", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    limit_locks()
    for name in COLUMNS:
        op.drop_column("unmatched_receipts", name)
