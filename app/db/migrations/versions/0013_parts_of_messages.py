"""Ids of the parts of messages, and the tables of SMPP connections."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

oldest_code = "0009"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_smpp_deliveries_digest": "smpp_deliveries (carrier, digest)",
    "ix_smpp_deliveries_parts": "smpp_deliveries (carrier, source, reference) WHERE total IS NOT NULL",
    "ix_smpp_deliveries_received_at": "smpp_deliveries (received_at)",
}


def upgrade() -> None:
    limit_locks()
    for name in ("part", "parts"):
        op.add_column("carrier_ids", sa.Column(name, sa.BigInteger(), server_default="1", nullable=False))
    op.create_table(
        "smpp_deliveries",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("session", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("data_coding", sa.BigInteger(), nullable=False),
        sa.Column("octets", sa.LargeBinary(), nullable=False),
        sa.Column("reference", sa.BigInteger(), nullable=True),
        sa.Column("total", sa.BigInteger(), nullable=True),
        sa.Column("sequence", sa.BigInteger(), nullable=True),
        sa.Column("is_complete", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("is_settled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_smpp_deliveries")),
    )
    op.create_table(
        "smpp_leases",
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("held_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("carrier", name=op.f("pk_smpp_leases")),
    )
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_table("smpp_leases")
    op.drop_table("smpp_deliveries")
    for name in ("parts", "part"):
        op.drop_column("carrier_ids", name)
