"""The results of connections to carriers by the minute, and their alerts."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "connection_minutes",
        sa.Column("connection_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("minute", sa.DateTime(timezone=True), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("parts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("carrier_error", sa.Text(), server_default="", nullable=False),
        sa.Column("skew_seconds", sa.Float(), nullable=True),
        _key("connection_minutes"),
        sa.PrimaryKeyConstraint("connection_id", "minute", "result", "code", name="pk_connection_minutes"),
    )
    op.create_table(
        "connection_alerts",
        sa.Column("connection_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        _key("connection_alerts"),
        sa.PrimaryKeyConstraint("connection_id", "kind", name="pk_connection_alerts"),
    )
    build_indexes({"ix_connection_minutes_minute": "connection_minutes (minute)"})


def downgrade() -> None:
    limit_locks()
    op.drop_table("connection_alerts")
    op.drop_table("connection_minutes")


def _key(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_connection_id_carrier_connections"
    return sa.ForeignKeyConstraint(["connection_id"], ["carrier_connections.id"], name=name, ondelete="CASCADE")
