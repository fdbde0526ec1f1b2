"""The times of the last calls to carriers that had no answer, and of the first attempts without success."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0090"
down_revision = "0089"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("outgoing", sa.Column("asked_since", sa.DateTime(timezone=True)))
    op.add_column("outgoing", sa.Column("tried_since", sa.DateTime(timezone=True)))


def downgrade() -> None:
    limit_locks()
    op.drop_column("outgoing", "tried_since")
    op.drop_column("outgoing", "asked_since")
