"""Watched keywords."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "watched_keywords",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("keyword", sa.Text(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_watched_keywords_account_id_accounts")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_watched_keywords")),
        sa.UniqueConstraint("account_id", "keyword", name=op.f("uq_watched_keywords_account_id_keyword")),
    )
