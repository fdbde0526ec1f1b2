"""Sums of the ledger by day.

The trigger and the sums of the entries there are come in one transaction that lets nobody enter anything meanwhile, so
that no entry is left out or summed up twice. That takes some seconds for a million entries.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""

SUM_UP = """
  INSERT INTO ledger_days AS d (account_id, day, type, entries, amount, text_amount, first_text_at)
  SELECT account_id, (created_at AT TIME ZONE 'UTC')::date, type, count(*), sum(amount)::bigint,
    coalesce(sum(amount) FILTER (WHERE message_id IS NOT NULL), 0)::bigint,
    min(created_at) FILTER (WHERE message_id IS NOT NULL)
  FROM {entries} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (account_id, day, type) DO UPDATE SET entries = d.entries + excluded.entries,
    amount = d.amount + excluded.amount, text_amount = d.text_amount + excluded.text_amount,
    first_text_at = least(d.first_text_at, excluded.first_text_at)
"""
SUM_UP_ENTERED = f"""
CREATE FUNCTION sum_up_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
{SUM_UP.format(entries="entered")};
  RETURN NULL;
END $$
"""


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "ledger_days",
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("entries", sa.BigInteger(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("text_amount", sa.BigInteger(), nullable=False),
        sa.Column("first_text_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("account_id", "day", "type", name="pk_ledger_days"),
    )
    op.execute("LOCK TABLE ledger_entries IN SHARE ROW EXCLUSIVE MODE")
    op.execute(SUM_UP_ENTERED)
    op.execute(
        "CREATE TRIGGER sum_up_ledger AFTER INSERT ON ledger_entries "
        "REFERENCING NEW TABLE AS entered FOR EACH STATEMENT EXECUTE FUNCTION sum_up_ledger()"
    )
    op.execute(SUM_UP.format(entries="ledger_entries"))


def downgrade() -> None:
    limit_locks()
    op.execute("DROP TRIGGER sum_up_ledger ON ledger_entries")
    op.execute("DROP FUNCTION sum_up_ledger")
    op.drop_table("ledger_days")
