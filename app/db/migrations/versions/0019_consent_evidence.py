"""Sources, notes and times of consent records, which the database refuses to change or to delete.

The law asks for the deletion of what an account kept, so that the records of a deleted account are let go.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

REFUSE = """
CREATE FUNCTION refuse_change_of_consent() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (SELECT FROM accounts WHERE id = OLD.account_id AND status = 'deleted') THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'consent record % may not be changed or deleted', OLD.id USING ERRCODE = 'restrict_violation';
END $$
"""
REFUSE_TRUNCATE = """
CREATE FUNCTION refuse_truncation() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'table % may not be truncated', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$
"""


def upgrade() -> None:
    limit_locks()
    op.add_column("consents", sa.Column("source", sa.Text(), server_default="", nullable=False))
    op.add_column("consents", sa.Column("note", sa.Text(), server_default="", nullable=False))
    op.add_column("consents", sa.Column("occurred_at", sa.DateTime(timezone=True)))
    op.execute(REFUSE)
    op.execute(REFUSE_TRUNCATE)
    op.execute(
        "CREATE TRIGGER refuse_change BEFORE UPDATE OR DELETE ON consents "
        "FOR EACH ROW EXECUTE FUNCTION refuse_change_of_consent()"
    )
    op.execute(
        "CREATE TRIGGER refuse_truncation BEFORE TRUNCATE ON consents "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_truncation()"
    )


def downgrade() -> None:
    limit_locks()
    op.execute("DROP TRIGGER refuse_truncation ON consents")
    op.execute("DROP TRIGGER refuse_change ON consents")
    op.execute("DROP FUNCTION refuse_truncation()")
    op.execute("DROP FUNCTION refuse_change_of_consent()")
    for name in ("occurred_at", "note", "source"):
        op.drop_column("consents", name)
