"""The sending number of each conversation, from which the next text leaves.

It is null for the conversations there are: their next text leaves from the primary number, as before.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

oldest_code = "0001"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.add_column("conversations", sa.Column("sending_number", sa.Text()))


def downgrade() -> None:
    limit_locks()
    op.drop_column("conversations", "sending_number")
