"""People depend on no credential: keys manage no people."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("DELETE FROM makers WHERE user_id IS NOT NULL")
    op.drop_index("ix_makers_of_users", "makers")
    op.drop_column("makers", "user_id")
    op.drop_column("makers", "is_of_role")


def downgrade() -> None:
    op.add_column("makers", sa.Column("user_id", sa.BigInteger(), nullable=True))
    op.add_column("makers", sa.Column("is_of_role", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.create_foreign_key(op.f("fk_makers_user_id_users"), "makers", "users", ["user_id"], ["id"], ondelete="CASCADE")
    op.create_index(op.f("ix_makers_user_id"), "makers", ["user_id"])
    op.create_index("ix_makers_of_users", "makers", ["account_id"], postgresql_where=sa.text("user_id IS NOT NULL"))
