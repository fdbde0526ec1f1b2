"""An index of the integrations that were removed, whose rows are being deleted."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0078"
down_revision = "0077"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {"ix_integrations_removed": "integrations (id) WHERE status = 'removed'"}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
