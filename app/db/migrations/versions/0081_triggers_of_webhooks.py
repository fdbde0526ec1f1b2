"""Triggers instead of foreign keys of deliveries and attempts, and no indexes of deliveries by time.

A foreign key is checked for each row that is added, and an index is written twice for each delivery.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

PARENTS = (
    ("webhook_deliveries", "subscription_id", "webhook_subscriptions"),
    ("webhook_attempts", "delivery_id", "webhook_deliveries"),
)
"""Tables whose rows end with those of another, the columns that refer to them, and the others."""

DELETE = """
CREATE OR REPLACE FUNCTION delete_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM {table} WHERE {column} = ANY(ARRAY(SELECT id FROM deleted));
  RETURN NULL;
END $$
"""
TRIGGER = """
CREATE OR REPLACE TRIGGER delete_{table} AFTER DELETE ON {parent} REFERENCING OLD TABLE AS deleted
FOR EACH STATEMENT EXECUTE FUNCTION delete_{table}()
"""
INDEXES = {
    "ix_webhook_deliveries_created_at": "webhook_deliveries (created_at)",
    "ix_webhook_deliveries_body": "webhook_deliveries (created_at) WHERE body IS NOT NULL",
}


def upgrade() -> None:
    limit_locks()
    for table, column, parent in PARENTS:
        for statement in (DELETE, TRIGGER):
            op.execute(statement.format(table=table, column=column, parent=parent))
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS fk_{table}_{column}_{parent}")
    drop_indexes(*INDEXES)


def downgrade() -> None:
    limit_locks()
    for table, column, parent in PARENTS:
        orphans = f"DELETE FROM {table} c WHERE NOT EXISTS (SELECT FROM {parent} p WHERE p.id = c.{column})"
        op.execute(sa.text(orphans))
        op.create_foreign_key(
            f"fk_{table}_{column}_{parent}", table, parent, [column], ["id"], ondelete="CASCADE"
        )
        op.execute(f"DROP TRIGGER delete_{table} ON {parent}")
        op.execute(f"DROP FUNCTION delete_{table}()")
    build_indexes(INDEXES)
