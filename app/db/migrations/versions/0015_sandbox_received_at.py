"""When the sandbox was given a text, so that refused ones are forgotten too; those of before count from now on."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "sandbox_messages",
        sa.Column("received_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
    )
    op.execute("UPDATE sandbox_messages SET received_at = accepted_at WHERE accepted_at IS NOT NULL")


def downgrade() -> None:
    op.drop_column("sandbox_messages", "received_at")
