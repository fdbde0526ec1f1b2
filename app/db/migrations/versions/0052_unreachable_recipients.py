"""An index of the recipients whose phones were not reached."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_campaign_recipients_unreachable": "campaign_recipients (account_id, contact_id) WHERE reason = 'unreachable'",
}


def upgrade() -> None:
    limit_locks()
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*INDEXES)
