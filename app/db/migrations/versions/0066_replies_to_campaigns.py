"""The index by which segments find the contacts that replied to campaigns."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

COLUMNS = "account_id, campaign_id, contact_id"


def upgrade() -> None:
    limit_locks()
    index = f"campaign_recipients ({COLUMNS}) WHERE replied_at IS NOT NULL"
    build_indexes({"ix_campaign_recipients_replied": index})


def downgrade() -> None:
    limit_locks()
    drop_indexes("ix_campaign_recipients_replied")
