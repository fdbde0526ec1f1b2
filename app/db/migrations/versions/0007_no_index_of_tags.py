"""No index of the tags in `contacts`: `contact_tags` is read instead."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""

OLD = {"ix_contacts_tags": "contacts USING gin (account_id, tags)"}


def upgrade() -> None:
    limit_locks()
    drop_indexes(*OLD)


def downgrade() -> None:
    limit_locks()
    build_indexes(OLD)
