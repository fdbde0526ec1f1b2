"""Campaigns, their recipients and counts, and the results of sending numbers by the hour."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_campaigns_account_id": "campaigns (account_id, id)",
    "ix_campaigns_status": "campaigns (account_id, status, id)",
    "ix_campaigns_due_at": "campaigns (due_at, id) WHERE due_at IS NOT NULL",
    "ix_campaign_recipients_state": "campaign_recipients (campaign_id, state, id)",
    "ix_campaign_recipients_settled_at": "campaign_recipients (campaign_id, settled_at) WHERE settled_at IS NOT NULL",
    "ix_campaign_recipients_contact_id": "campaign_recipients (contact_id, id) WHERE contact_id IS NOT NULL",
    "ix_campaign_counts_unfolded": "campaign_counts (campaign_id) WHERE NOT is_folded",
    "ix_number_hours_hour": "number_hours (hour)",
}
UNIQUE = {
    "uq_campaign_recipients_phone": "campaign_recipients (campaign_id, phone)",
    "uq_campaign_recipients_message_id": "campaign_recipients (message_id) WHERE message_id IS NOT NULL",
}
COLUMNS = "account_id, campaign_id, state, reason, recipients, segments, credits"
COUNT_ADDED = f"""
CREATE FUNCTION count_added_recipients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO campaign_counts ({COLUMNS})
  SELECT account_id, campaign_id, state, reason, count(*), sum(segments), sum(credits) FROM added
  GROUP BY account_id, campaign_id, state, reason;
  RETURN NULL;
END $$
"""
COUNT_CHANGED = f"""
CREATE FUNCTION count_changed_recipients() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO campaign_counts ({COLUMNS})
  SELECT account_id, campaign_id, state, reason, sum(n), sum(n * segments), sum(n * credits) FROM (
    SELECT account_id, campaign_id, state, reason, 1 AS n, segments, credits FROM became
    UNION ALL SELECT account_id, campaign_id, state, reason, -1, segments, credits FROM was
  ) changed
  GROUP BY account_id, campaign_id, state, reason
  HAVING sum(n) <> 0 OR sum(n * segments) <> 0 OR sum(n * credits) <> 0;
  RETURN NULL;
END $$
"""
TRIGGERS = (
    "CREATE TRIGGER count_added_recipients AFTER INSERT ON campaign_recipients REFERENCING NEW TABLE AS added"
    " FOR EACH STATEMENT EXECUTE FUNCTION count_added_recipients()",
    "CREATE TRIGGER count_changed_recipients AFTER UPDATE ON campaign_recipients REFERENCING OLD TABLE AS was"
    " NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION count_changed_recipients()",
)


def upgrade() -> None:
    limit_locks()
    _create_campaigns()
    _create_recipients()
    _create_counts()
    _create_number_hours()
    for statement in (COUNT_ADDED, COUNT_CHANGED, *TRIGGERS):
        op.execute(statement)
    op.add_column("live_updates", sa.Column("campaign_id", sa.BigInteger(), nullable=True))
    for name, definition in UNIQUE.items():
        op.execute(f"CREATE UNIQUE INDEX {name} ON {definition}")
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_column("live_updates", "campaign_id")
    for table in ("number_hours", "campaign_counts", "campaign_recipients", "campaigns"):
        op.drop_table(table)
    op.execute("DROP FUNCTION count_added_recipients")
    op.execute("DROP FUNCTION count_changed_recipients")


def _create_campaigns() -> None:
    op.create_table(
        "campaigns",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="draft", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("audience", postgresql.JSONB(), nullable=False),
        sa.Column("phone_number_id", sa.BigInteger(), nullable=True),
        sa.Column("is_smart_encoded", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("is_strict", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("scheduled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("max_credits", sa.BigInteger(), nullable=True),
        sa.Column("read_until", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("read_after", sa.Text(), server_default="", nullable=False),
        sa.Column("is_read", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resumed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('draft','scheduled','sending','paused','completed','canceled','failed')",
            name="ck_campaigns_status",
        ),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_campaigns_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name="pk_campaigns"),
    )


def _create_recipients() -> None:
    op.create_table(
        "campaign_recipients",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=True),
        sa.Column("phone", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("segments", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("credits", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("number", sa.Text(), server_default="", nullable=False),
        sa.Column("message_id", sa.BigInteger(), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("replied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("opted_out_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("campaign_id", "id", name="pk_campaign_recipients"),
    )


def _create_counts() -> None:
    op.create_table(
        "campaign_counts",
        sa.Column("campaign_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("recipients", sa.BigInteger(), nullable=False),
        sa.Column("segments", sa.BigInteger(), nullable=False),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.Column("is_folded", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("campaign_id", "id", name="pk_campaign_counts"),
    )


def _create_number_hours() -> None:
    counted = ("sent", "delivered", "failed", "filtered", "unreachable", "refused", "replies", "opt_outs")
    op.create_table(
        "number_hours",
        sa.Column("account_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.Text(), nullable=False),
        sa.Column("hour", sa.DateTime(timezone=True), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("region", sa.Text(), nullable=False),
        sa.Column("segments", sa.BigInteger(), autoincrement=False, nullable=False),
        *(sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in counted),
        sa.PrimaryKeyConstraint(
            "account_id", "number", "hour", "carrier", "region", "segments", name="pk_number_hours"
        ),
    )
