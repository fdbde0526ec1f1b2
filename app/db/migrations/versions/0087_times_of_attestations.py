"""The times at which the senders of campaigns attested the consent of the recipients; those of before have none.

The column has no default: the code of the version before must be able to use the schema.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0087"
down_revision = "0086"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("campaigns", sa.Column("attested_at", sa.DateTime(timezone=True)))


def downgrade() -> None:
    limit_locks()
    op.drop_column("campaigns", "attested_at")
