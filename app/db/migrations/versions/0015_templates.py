"""Saved templates, fallbacks of placeholders, and braces of drip steps in the grammar of placeholders.

A brace of a step that was no placeholder is written twice now. Older code sends both of them until it is replaced.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

oldest_code = "0014"
"""The revision of the oldest code that runs on the schema after this migration."""

NAMES = ("first_name", "last_name", "company_name")
"""The placeholders of the older grammar."""

DOUBLED = "replace(replace(body, '{', '{{'), '}', '}}')"
SINGLE = "replace(replace(body, '{{', '{'), '}}', '}')"


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "templates",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_templates"),
    )
    op.create_table(
        "placeholder_fallbacks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("fallback", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_placeholder_fallbacks"),
        sa.UniqueConstraint("account_id", "name", name="uq_placeholder_fallbacks_account_id_name"),
    )
    doubled = DOUBLED
    for name in NAMES:
        doubled = f"replace({doubled}, '{{{{{name}}}}}', '{{{name}}}')"
    op.execute(f"UPDATE sequence_steps SET body = {doubled} WHERE body ~ '[{{}}]' AND body <> {doubled}")
    build_indexes({"ix_templates_account_id": "templates (account_id, id)"})


def downgrade() -> None:
    limit_locks()
    op.execute(f"UPDATE sequence_steps SET body = {SINGLE} WHERE body ~ '[{{][{{]|[}}][}}]'")
    op.drop_table("placeholder_fallbacks")
    op.drop_table("templates")
