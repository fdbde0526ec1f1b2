"""Requests for an opt-in that a person must confirm, and keywords that make them."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""


INDEXES = {"ix_opt_in_requests_phone": "opt_in_requests (account_id, phone, created_at)"}


def _text(name: str, default: str | None = None, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=nullable)


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False)


def _time(name: str, *, nullable: bool = False) -> sa.Column[sa.DateTime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "opt_in_requests",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        _number("account_id"),
        *map(_text, ("phone", "keyword")),
        _text("tag", ""),
        _text("text"),
        _number("message_id"),
        _text("question"),
        _number("question_id"),
        _time("expires_at"),
        _text("outcome", nullable=True),
        _time("ended_at", nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_opt_in_requests_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name="pk_opt_in_requests"),
    )
    op.execute("CREATE UNIQUE INDEX ix_opt_in_requests_open ON opt_in_requests (account_id, phone) WHERE ended_at IS NULL")
    op.add_column(
        "watched_keywords", sa.Column("double_opt_in", sa.Boolean(), server_default=sa.false(), nullable=False)
    )
    op.add_column("watched_keywords", _text("opt_in_tag", ""))
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_column("watched_keywords", "opt_in_tag")
    op.drop_column("watched_keywords", "double_opt_in")
    op.drop_table("opt_in_requests")
