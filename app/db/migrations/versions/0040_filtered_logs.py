"""Indexes of the filters of runs of automations and agents, of received events, and of bookings."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_automation_runs_automation_id": "automation_runs (automation_id, id)",
    "ix_automation_runs_status": "automation_runs (account_id, status, id)",
    "ix_ai_agent_runs_outcome": "ai_agent_runs (account_id, outcome, id)",
    "ix_integration_events_integration_id": "integration_events (integration_id, id)",
    "ix_integration_events_status": "integration_events (account_id, status, id)",
    "ix_bookings_status": "bookings (account_id, status, id)",
}
DRAFTED = {"ix_ai_agent_runs_drafted": "ai_agent_runs (account_id, id) WHERE outcome = 'drafted'"}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)
    drop_indexes(*DRAFTED)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
    build_indexes(DRAFTED)
