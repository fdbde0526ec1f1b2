"""The creators of integrations; those that exist have none.

The column has no foreign key: the code of the version before must be able to use the schema.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0085"
down_revision = "0084"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("integrations", sa.Column("creator_id", sa.BigInteger()))


def downgrade() -> None:
    limit_locks()
    op.drop_column("integrations", "creator_id")
