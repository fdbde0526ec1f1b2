"""Live updates about AI agents and their runs."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

COLUMNS = ("agent_id", "run_id")


def upgrade() -> None:
    limit_locks()
    for name in COLUMNS:
        op.add_column("live_updates", sa.Column(name, sa.BigInteger()))


def downgrade() -> None:
    limit_locks()
    for name in COLUMNS:
        op.drop_column("live_updates", name)
