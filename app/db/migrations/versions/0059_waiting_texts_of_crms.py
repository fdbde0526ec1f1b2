"""An index of the waiting texts of each connection to a CRM."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {"ix_crm_sends_waiting": "crm_sends (integration_id, due_at, id) WHERE status = 'waiting'"}
REPLACED = {"ix_crm_sends_due": "crm_sends (due_at, id) WHERE status = 'waiting'"}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)
    drop_indexes(*REPLACED)


def downgrade() -> None:
    limit_locks()
    build_indexes(REPLACED)
    drop_indexes(*INDEXES)
