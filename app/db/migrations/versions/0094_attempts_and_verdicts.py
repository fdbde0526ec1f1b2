"""The attempts of the step that an enrollment has sent last, and the verdicts of carriers on phones and numbers."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0094"
down_revision = "0093"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column(
        "sequence_enrollments", sa.Column("last_attempts", sa.BigInteger(), server_default="0", nullable=False)
    )
    op.add_column("phone_numbers", sa.Column("refusals", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("contacts", sa.Column("reach", sa.Text()))


def downgrade() -> None:
    limit_locks()
    op.drop_column("phone_numbers", "refusals")
    op.drop_column("contacts", "reach")
    op.drop_column("sequence_enrollments", "last_attempts")
