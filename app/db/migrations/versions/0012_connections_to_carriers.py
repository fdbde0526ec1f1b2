"""Connections to carriers, the one to the sandbox among them; waiting texts are found by the key of theirs.

Code before this revision fails the texts of the connections that it does not know: add the first connection when all
processes have been upgraded.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

oldest_code = "0009"
"""The revision of the oldest code that runs on the schema after this migration."""

WAITING = "WHERE claimed_until IS NULL"
OLD = {
    "ix_outgoing_waiting": f"outgoing (lane, number, due_at, message_id) {WAITING}",
    "ix_outgoing_due_at": f"outgoing (due_at) {WAITING}",
}
NEW = {
    "ix_outgoing_numbers": f"outgoing (lane, carrier, number, due_at, message_id) {WAITING}",
    "ix_outgoing_due": f"outgoing (carrier, due_at) {WAITING}",
    "ix_carrier_connections_account_id": "carrier_connections (account_id)",
}


def upgrade() -> None:
    limit_locks()
    op.execute(sa.schema.CreateSequence(sa.Sequence("carrier_connection_revisions"), if_not_exists=True))
    op.create_table(
        "carrier_connections",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("settings", JSONB(), server_default="{}", nullable=False),
        sa.Column("credentials", sa.LargeBinary(), nullable=True),
        sa.Column("previous_credentials", sa.LargeBinary(), nullable=True),
        sa.Column("previous_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("parts_per_second", sa.Float(), nullable=True),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("role", sa.Text(), server_default="worker", nullable=False),
        sa.Column(
            "revision",
            sa.BigInteger(),
            server_default=sa.text("nextval('carrier_connection_revisions')"),
            nullable=False,
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("status IN ('active','paused')", name=op.f("ck_carrier_connections_status")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_carrier_connections_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_carrier_connections")),
        sa.UniqueConstraint("key", name=op.f("uq_carrier_connections_key")),
    )
    op.execute("INSERT INTO carrier_connections (key, kind, name) VALUES ('sandbox', 'sandbox', 'Sandbox')")
    for table in ("sandbox_messages", "sandbox_callbacks"):
        op.add_column(table, sa.Column("carrier", sa.Text(), server_default="sandbox", nullable=False))
    build_indexes(NEW)
    drop_indexes(*OLD)


def downgrade() -> None:
    limit_locks()
    for table in ("sandbox_messages", "sandbox_callbacks"):
        op.drop_column(table, "carrier")
    op.drop_table("carrier_connections")
    op.execute(sa.schema.DropSequence(sa.Sequence("carrier_connection_revisions"), if_exists=True))
    build_indexes(OLD)
    drop_indexes(*(NEW.keys() - {"ix_carrier_connections_account_id"}))
