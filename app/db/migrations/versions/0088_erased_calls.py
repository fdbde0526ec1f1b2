"""The texts that were erased during the call to their carrier."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0088"
down_revision = "0087"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "erased_calls",
        sa.Column("message_id", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("credits", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name="pk_erased_calls"),
    )
    op.execute("CREATE INDEX ix_erased_calls_account_id ON erased_calls (account_id, message_id)")
    op.execute("CREATE INDEX ix_erased_calls_due_at ON erased_calls (due_at)")


def downgrade() -> None:
    limit_locks()
    op.drop_table("erased_calls")
