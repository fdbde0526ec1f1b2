"""The indexes by which each account with due steps, automations, AI agents or texts of a CRM has its turn."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0069"
down_revision = "0068"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

TURNS = {
    "ix_sequence_enrollments_turns": "sequence_enrollments (account_id, next_send_at, id)"
    " WHERE status = 'active' AND NOT is_set_aside",
    "ix_automation_runs_turns": "automation_runs (account_id, due_at, id) WHERE due_at IS NOT NULL",
    "ix_crm_sends_due": "crm_sends (due_at, id) WHERE status = 'waiting'",
    "ix_ai_agent_runs_turns": "ai_agent_runs (account_id, due_at, id) WHERE status <> 'done'",
}


def upgrade() -> None:
    limit_locks()
    build_indexes(TURNS)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*TURNS)
