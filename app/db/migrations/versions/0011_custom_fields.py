"""Custom fields and assignees of contacts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

oldest_code = "0009"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_contacts_custom": "contacts USING gin (account_id, custom_fields jsonb_path_ops) WHERE custom_fields <> '{}'",
    "ix_contacts_assignee": "contacts (assignee_id, created_at DESC, id DESC) WHERE assignee_id IS NOT NULL",
}


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "custom_fields",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("choices", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_custom_fields"),
        sa.UniqueConstraint("account_id", "key", name="uq_custom_fields_account_id_key"),
    )
    op.add_column("contacts", sa.Column("assignee_id", sa.BigInteger(), nullable=True))
    op.add_column("contacts", sa.Column("custom_fields", postgresql.JSONB(), server_default="{}", nullable=False))
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    op.drop_column("contacts", "custom_fields")
    op.drop_column("contacts", "assignee_id")
    op.drop_table("custom_fields")
