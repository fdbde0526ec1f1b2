"""Texts whose carrier is asked for their final report, and numbers for which it is asked for texts.

The walk that finds the texts begins with the messages of the last three days: older ones have no final report any more.
The walk that finds the numbers begins with the first message.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0092"
down_revision = "0091"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

IS_OLD = sa.text(
    "SELECT created_at < now() - interval '72 hours' FROM messages WHERE id >= :middle ORDER BY id LIMIT 1"
)
BEGIN = sa.text("INSERT INTO message_marks (name, last_id) VALUES ('status_queries', :last_id)")


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "message_marks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("last_id", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_message_marks"),
    )
    op.create_table(
        "status_queries",
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_status_queries"),
        sa.ForeignKeyConstraint(
            ["carrier"],
            ["carrier_connections.key"],
            name="fk_status_queries_carrier_carrier_connections",
            ondelete="CASCADE",
        ),
    )
    op.execute("CREATE INDEX ix_status_queries_due_at ON status_queries (carrier, due_at)")
    op.create_table(
        "inbound_listings",
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("number", sa.Text(), nullable=False),
        sa.Column("listed_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("carrier", "number", name="pk_inbound_listings"),
        sa.ForeignKeyConstraint(
            ["carrier"],
            ["carrier_connections.key"],
            name="fk_inbound_listings_carrier_carrier_connections",
            ondelete="CASCADE",
        ),
    )
    op.execute("CREATE INDEX ix_inbound_listings_due_at ON inbound_listings (carrier, due_at)")
    connection = op.get_bind()
    connection.execute(BEGIN, {"last_id": _find_last_old(connection)})


def downgrade() -> None:
    limit_locks()
    op.drop_table("inbound_listings")
    op.drop_table("status_queries")
    op.drop_table("message_marks")


def _find_last_old(connection: sa.Connection) -> int:
    """Return an id before the messages of the last three days, by a binary search: ids grow with time."""
    low, high = 0, connection.execute(sa.text("SELECT coalesce(max(id), 0) FROM messages")).scalar_one()
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if connection.execute(IS_OLD, {"middle": middle}).scalar() else (low, middle - 1)
    return low
