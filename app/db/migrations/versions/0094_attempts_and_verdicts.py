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
    op.create_table(
        "carrier_lookups",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("phone", sa.Text(), nullable=False),
        sa.Column("is_valid", sa.Boolean(), nullable=False),
        sa.Column("line_type", sa.Text(), nullable=False),
        sa.Column("current_carrier", sa.Text()),
        sa.Column("country", sa.Text()),
        sa.Column("looked_up_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name="fk_carrier_lookups_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name="pk_carrier_lookups"),
        sa.UniqueConstraint("account_id", "phone", "carrier", name="uq_carrier_lookups_account_id_phone_carrier"),
    )
    op.execute("CREATE INDEX ix_carrier_lookups_account_id ON carrier_lookups (account_id, id)")
    op.execute("CREATE INDEX ix_carrier_lookups_looked_up_at ON carrier_lookups (looked_up_at)")


def downgrade() -> None:
    limit_locks()
    op.drop_table("carrier_lookups")
    op.drop_column("phone_numbers", "refusals")
    op.drop_column("contacts", "reach")
    op.drop_column("sequence_enrollments", "last_attempts")
