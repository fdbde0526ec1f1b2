"""The ids that this installation has in the metadata of its payments at providers."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0095"
down_revision = "0094"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "payment_installations",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), server_default=sa.text("gen_random_uuid()::text"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_payment_installations"),
    )
    op.execute("INSERT INTO payment_installations (id) VALUES (1)")


def downgrade() -> None:
    limit_locks()
    op.drop_table("payment_installations")
