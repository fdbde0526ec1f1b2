"""Drip sequences."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sequences",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_sequences_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sequences")),
    )
    op.create_index("ix_sequences_account_id", "sequences", ["account_id", "id"], unique=False)
    op.create_table(
        "sequence_enrollments",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("sequence_id", sa.BigInteger(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("exit_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("is_paused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("position", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("next_send_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempts", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("enrolled_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sequence_enrollments_account_id_accounts")
        ),
        sa.ForeignKeyConstraint(
            ["contact_id"],
            ["contacts.id"],
            name=op.f("fk_sequence_enrollments_contact_id_contacts"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["sequence_id"],
            ["sequences.id"],
            name=op.f("fk_sequence_enrollments_sequence_id_sequences"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sequence_enrollments")),
    )
    op.create_index("ix_sequence_enrollments_contact_id", "sequence_enrollments", ["contact_id"], unique=False)
    op.create_index(
        "ix_sequence_enrollments_due",
        "sequence_enrollments",
        ["next_send_at", "id"],
        unique=False,
        postgresql_where=sa.text("status = 'active' AND NOT is_paused"),
    )
    op.create_index("ix_sequence_enrollments_sequence_id", "sequence_enrollments", ["sequence_id", "id"], unique=False)
    op.create_index(
        "uq_sequence_enrollments_active",
        "sequence_enrollments",
        ["sequence_id", "contact_id"],
        unique=True,
        postgresql_where=sa.text("status = 'active'"),
    )
    op.create_table(
        "sequence_steps",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("sequence_id", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("delay_minutes", sa.BigInteger(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.CheckConstraint("delay_minutes >= 0", name=op.f("ck_sequence_steps_delay_not_negative")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_sequence_steps_account_id_accounts")),
        sa.ForeignKeyConstraint(
            ["sequence_id"], ["sequences.id"], name=op.f("fk_sequence_steps_sequence_id_sequences"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sequence_steps")),
        sa.UniqueConstraint("sequence_id", "position", name=op.f("uq_sequence_steps_sequence_id_position")),
    )
