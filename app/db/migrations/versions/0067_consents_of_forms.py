"""The IP address and the browser of a person who consented in a web form."""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0067"
down_revision = "0066"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

COLUMNS = ("ip_address", "user_agent")


def upgrade() -> None:
    limit_locks()
    for name in COLUMNS:
        op.add_column("consents", sa.Column(name, sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    limit_locks()
    for name in COLUMNS:
        op.drop_column("consents", name)
