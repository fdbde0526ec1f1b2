"""Add the e-mail address to its index, which then finds duplicates without reading the contacts."""

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

KEY = "contacts (account_id, lower(email), id)"
HAS_EMAIL = "WHERE email <> ''"


def upgrade() -> None:
    limit_locks()
    build_indexes({"ix_contacts_emails": f"{KEY} INCLUDE (email) {HAS_EMAIL}"})
    drop_indexes("ix_contacts_email")


def downgrade() -> None:
    limit_locks()
    build_indexes({"ix_contacts_email": f"{KEY} {HAS_EMAIL}"})
    drop_indexes("ix_contacts_emails")
