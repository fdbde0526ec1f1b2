"""Since when a carrier has left the hand-off of a message unanswered."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("unanswered_since", sa.DateTime(timezone=True), nullable=True))
