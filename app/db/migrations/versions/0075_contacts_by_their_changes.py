"""An index of contacts by the time of their last change.

Code before this revision does not know jobs of the kind rename_tag, which its workers fail after some attempts: rename
the first tag when all processes are replaced.
"""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {"ix_contacts_updated": "contacts (account_id, updated_at DESC, id DESC)"}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
