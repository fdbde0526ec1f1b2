"""Notices to users, and their choices."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

UNIQUE = """
CREATE UNIQUE INDEX uq_notices_unread_message ON notices (user_id, contact_id)
WHERE kind = 'new_message' AND read_at IS NULL
"""
INDEXES = {
    "ix_notices_account_id": "notices (account_id, id)",
    "ix_notice_preferences_account_id": "notice_preferences (account_id, id)",
    "ix_notices_user_id": "notices (user_id, id DESC)",
    "ix_notices_unread": "notices (user_id) WHERE read_at IS NULL",
    "ix_notices_contact_id": "notices (contact_id) WHERE contact_id IS NOT NULL",
    "ix_notices_mail_at": "notices (mail_at) WHERE mail_at IS NOT NULL",
    "ix_notices_created_at": "notices (created_at)",
}


def _parent(table: str, column: str, parent: str, ondelete: str | None = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{parent}.id"], name=f"fk_{table}_{column}_{parent}", ondelete=ondelete)


def _time(name: str) -> sa.Column[sa.DateTime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=True)


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "notices",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("contact_id", sa.BigInteger(), nullable=True),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), server_default="", nullable=False),
        sa.Column("count", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("is_shown", sa.Boolean(), server_default=sa.true(), nullable=False),
        _time("mail_at"),
        _time("read_at"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        _parent("notices", "account_id", "accounts", None),
        _parent("notices", "user_id", "users"),
        _parent("notices", "contact_id", "contacts"),
        sa.PrimaryKeyConstraint("id", name="pk_notices"),
    )
    op.execute(UNIQUE)
    op.create_table(
        "notice_preferences",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("in_browser", sa.Boolean(), nullable=False),
        sa.Column("by_mail", sa.Boolean(), nullable=False),
        _parent("notice_preferences", "user_id", "users"),
        _parent("notice_preferences", "account_id", "accounts", None),
        sa.PrimaryKeyConstraint("id", name="pk_notice_preferences"),
        sa.UniqueConstraint("user_id", "kind", name="uq_notice_preferences_user_id_kind"),
    )
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_table("notice_preferences")
    op.drop_table("notices")
