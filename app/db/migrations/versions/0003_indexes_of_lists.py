"""Indexes of filtered lists."""

from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""

SEARCHED_STATISTICS = 300
"""Samples of the searched text: with the usual 100, a search for few contacts is taken for one for thousands."""

NEW = {
    "ix_contacts_stage_added": "contacts (account_id, pipeline_stage, created_at DESC, id DESC)",
    "ix_contacts_stage_name": "contacts (account_id, pipeline_stage, lower(first_name), lower(last_name), id)",
    "ix_contacts_stage_score": "contacts (account_id, pipeline_stage, score DESC, id DESC)",
    "ix_contacts_opted_out": "contacts (account_id, created_at DESC, id DESC) WHERE status = 'opted_out'",
    "ix_contacts_email": "contacts (account_id, lower(email), id) WHERE email <> ''",
    "ix_conversations_status": "conversations (account_id, status, last_message_at DESC, id DESC)",
    "ix_conversations_unread": "conversations (account_id, last_message_at DESC, id DESC) WHERE unread_count > 0",
    "ix_conversations_assignee": (
        "conversations (assignee_id, last_message_at DESC, id DESC) WHERE assignee_id IS NOT NULL"
    ),
    "ix_messages_status": "messages (account_id, status, id DESC)",
    "ix_messages_contact": "messages (contact_id, id)",
    "ix_sequence_enrollments_status": "sequence_enrollments (sequence_id, status, id)",
    "ix_webhook_deliveries_account_id": "webhook_deliveries (account_id, id DESC)",
    "ix_webhook_deliveries_status": "webhook_deliveries (account_id, status, id DESC) WHERE status <> 'delivered'",
}
OLD = {
    "ix_conversations_assignee_id": "conversations (assignee_id) WHERE assignee_id IS NOT NULL",
    "ix_messages_contact_id": "messages (contact_id)",
}
"""Replaced by indexes with more columns."""


def upgrade() -> None:
    limit_locks()
    op.execute(f"ALTER TABLE contacts ALTER searched SET STATISTICS {SEARCHED_STATISTICS}")
    build_indexes(NEW)
    drop_indexes(*OLD)


def downgrade() -> None:
    limit_locks()
    op.execute("ALTER TABLE contacts ALTER searched SET STATISTICS DEFAULT")
    build_indexes(OLD)
    drop_indexes(*NEW)
