"""An index of the records of CRMs whose comparison failed."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

CHECKS = "crm_pushes (integration_id, external_id) WHERE kind = 'check' AND status = 'failed'"
INDEXES = {"ix_crm_pushes_failed_checks": CHECKS}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
