"""The settings of the account that a campaign was sent with."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import limit_locks

revision = "0096"
down_revision = "0095"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("campaigns", sa.Column("account_settings", postgresql.JSONB(), nullable=True))


def downgrade() -> None:
    limit_locks()
    op.drop_column("campaigns", "account_settings")
