"""Indexes of the filters of the audit log, the ledger, and the pushes of CRMs."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_audit_entries_action": "audit_entries (account_id, action, id)",
    "ix_crm_pushes_integration_id": "crm_pushes (integration_id, id)",
    "ix_crm_pushes_status": "crm_pushes (account_id, status, id)",
    "ix_ledger_entries_type": "ledger_entries (account_id, type, id DESC) WHERE type <> 'debit'",
}
REPLACED = {"ix_ledger_entries_others": "ledger_entries (account_id, id DESC) WHERE type <> 'debit'"}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)
    drop_indexes(*REPLACED)


def downgrade() -> None:
    limit_locks()
    build_indexes(REPLACED)
    drop_indexes(*INDEXES)
