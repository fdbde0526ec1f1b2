"""Settings of smart encoding, and the texts as they were written where it replaced some of their characters."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

SETTINGS = ("smart_encoding", "fold_accents")
TEXTS = ("messages", "campaign_recipients")


def upgrade() -> None:
    limit_locks()
    for name in SETTINGS:
        op.add_column("accounts", sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False))
    for table in TEXTS:
        op.add_column(table, sa.Column("original_body", sa.Text(), nullable=True))


def downgrade() -> None:
    limit_locks()
    for table in TEXTS:
        op.drop_column(table, "original_body")
    for name in SETTINGS:
        op.drop_column("accounts", name)
