"""The opt-outs of an hour that came within 24 hours after a text."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0068"
down_revision = "0067"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("number_hours", sa.Column("prompt_opt_outs", sa.BigInteger(), server_default="0", nullable=False))
    op.execute("UPDATE number_hours SET prompt_opt_outs = opt_outs WHERE opt_outs > 0 AND hour > now() - interval '36 days'")


def downgrade() -> None:
    limit_locks()
    op.drop_column("number_hours", "prompt_opt_outs")
