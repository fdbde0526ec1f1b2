"""The campaign or webhook that a notice is about."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("notices", sa.Column("subject_id", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    limit_locks()
    op.drop_column("notices", "subject_id")
