"""The keywords of inbound messages that their carrier recognized and answered itself."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("messages", sa.Column("answered_keyword", sa.Text()))


def downgrade() -> None:
    limit_locks()
    op.drop_column("messages", "answered_keyword")
