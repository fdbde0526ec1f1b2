"""The time zones and locales of users."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("users", sa.Column("time_zone", sa.Text(), nullable=True))
    op.add_column("users", sa.Column("locale", sa.Text(), nullable=True))


def downgrade() -> None:
    limit_locks()
    op.drop_column("users", "locale")
    op.drop_column("users", "time_zone")
