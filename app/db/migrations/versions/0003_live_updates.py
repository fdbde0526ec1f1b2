"""The order in which events are shown live."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE SEQUENCE event_positions")
    op.add_column("events", sa.Column("position", sa.BigInteger(), nullable=True))
    op.create_index(
        "ix_events_account_id_position",
        "events",
        ["account_id", "position"],
        unique=False,
        postgresql_where=sa.text("position IS NOT NULL"),
    )
