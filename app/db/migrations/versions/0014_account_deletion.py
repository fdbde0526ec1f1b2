"""Deletion of accounts: when it is to be, and the indexes by which an account's rows are found."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

COLUMNS = ("deletion_at", "deletion_notice_at", "deleted_at")
INDEXES = (
    ("ix_accounts_deletion_at", "accounts", "deletion_at", "deletion_at IS NOT NULL"),
    ("ix_accounts_deletion_notice_at", "accounts", "deletion_notice_at", "deletion_notice_at IS NOT NULL"),
    ("ix_conversations_assignee_id", "conversations", "assignee_id", "assignee_id IS NOT NULL"),
    ("ix_invitations_maker_id", "invitations", "maker_id", None),
    ("ix_oauth_clients_maker_id", "oauth_clients", "maker_id", None),
    ("ix_oauth_clients_secret_maker_id", "oauth_clients", "secret_maker_id", None),
    ("ix_makers_of_records", "makers", "account_id", "key_id IS NULL"),
    ("ix_waiting_letters_account_id", "waiting_letters", "account_id", None),
    ("ix_waiting_letters_user_id", "waiting_letters", "user_id", None),
)


def upgrade() -> None:
    for column in COLUMNS:
        op.add_column("accounts", sa.Column(column, sa.DateTime(timezone=True), nullable=True))
    for name, table, column, where in INDEXES:
        op.create_index(name, table, [column], postgresql_where=sa.text(where) if where else None)


def downgrade() -> None:
    for name, table, _, _ in reversed(INDEXES):
        op.drop_index(name, table_name=table)
    for column in reversed(COLUMNS):
        op.drop_column("accounts", column)
