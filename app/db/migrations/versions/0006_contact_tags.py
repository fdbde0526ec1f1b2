"""Tags of contacts in a table of their own.

The triggers and the tags there are come in one transaction that lets nobody change a contact meanwhile, so that none is
left out. That takes some seconds for a million tags.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""

LIST_TAGS = """
CREATE FUNCTION list_contact_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    DELETE FROM contact_tags WHERE account_id = OLD.account_id AND tag = ANY(OLD.tags) AND contact_id = OLD.id;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO contact_tags (account_id, tag, created_at, contact_id)
      SELECT DISTINCT NEW.account_id, tag, NEW.created_at, NEW.id FROM unnest(NEW.tags) AS tag;
  END IF;
  RETURN NULL;
END $$
"""
TRIGGERS = {
    "list_tags_insert": ("INSERT", "NEW.tags <> '{}'"),
    "list_tags_update": (
        "UPDATE OF tags, created_at",
        "(OLD.tags, OLD.created_at) IS DISTINCT FROM (NEW.tags, NEW.created_at)",
    ),
    "list_tags_delete": ("DELETE", "OLD.tags <> '{}'"),
}


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "contact_tags",
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "tag", "contact_id", name="pk_contact_tags"),
    )
    op.execute("CREATE INDEX ix_contact_tags_added ON contact_tags (account_id, tag, created_at, contact_id)")
    op.execute("LOCK TABLE contacts IN SHARE ROW EXCLUSIVE MODE")
    op.execute(LIST_TAGS)
    for name, (change, condition) in TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER {name} AFTER {change} ON contacts FOR EACH ROW WHEN ({condition}) "
            "EXECUTE FUNCTION list_contact_tags()"
        )
    op.execute(
        "INSERT INTO contact_tags (account_id, tag, created_at, contact_id) "
        "SELECT DISTINCT account_id, tag, created_at, id FROM contacts, unnest(tags) AS tag"
    )


def downgrade() -> None:
    limit_locks()
    for name in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON contacts")
    op.execute("DROP FUNCTION list_contact_tags")
    op.drop_table("contact_tags")
