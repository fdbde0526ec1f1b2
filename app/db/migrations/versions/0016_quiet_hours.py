"""Quiet hours and frequency caps: time zones, rules of accounts, texts that count, and deferred messages."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_quiet_hours_rules_account_id": "quiet_hours_rules (account_id, id)",
    "ix_capped_texts_phone": "capped_texts (account_id, phone, at, message_id)",
    "ix_capped_texts_at": "capped_texts (at)",
}
INSTANT = sa.DateTime(timezone=True)


def columns() -> dict[str, tuple[sa.Column, ...]]:
    return {
        "accounts": (
            sa.Column("time_zone", sa.Text()),
            sa.Column("limits_transactional", sa.Boolean(), server_default=sa.text("false"), nullable=False),
            sa.Column("weekly_cap", sa.BigInteger(), server_default="6", nullable=False),
        ),
        "contacts": (sa.Column("time_zone", sa.Text()), sa.Column("time_zone_source", sa.Text())),
        "messages": (
            sa.Column("deferred_until", INSTANT),
            sa.Column("deferral_rule", sa.Text()),
            sa.Column("deferral_zones", sa.ARRAY(sa.Text())),
        ),
        "outgoing": (sa.Column("expires_at", INSTANT),),
        "sequence_steps": (sa.Column("delay_days", sa.BigInteger(), server_default="0", nullable=False),),
    }


def upgrade() -> None:
    limit_locks()
    for table, added in columns().items():
        for column in added:
            op.add_column(table, column)
    op.create_check_constraint(
        op.f("ck_sequence_steps_delay_days_not_negative"), "sequence_steps", "delay_days >= 0"
    )
    op.create_table(
        "quiet_hours_rules",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("jurisdiction", sa.Text(), nullable=False),
        sa.Column("weekdays", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("start_minute", sa.BigInteger(), nullable=False),
        sa.Column("end_minute", sa.BigInteger(), nullable=False),
        sa.Column("cap", sa.BigInteger()),
        sa.Column("overrides_law", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", INSTANT, server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("cap > 0", name=op.f("ck_quiet_hours_rules_cap_positive")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_quiet_hours_rules_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quiet_hours_rules")),
    )
    op.create_table(
        "capped_texts",
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("has_left", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_capped_texts")),
    )
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_table("capped_texts")
    op.drop_table("quiet_hours_rules")
    for table, added in columns().items():
        for column in added:
            op.drop_column(table, column.name)
