"""The count of the leases of a connection to a CRM, under the name that it has for webhooks.

Code before this revision must not run on this schema: it counts the leases in the column's former name.
"""

from alembic import op

from app.db.revisions import limit_locks

revision = "0077"
down_revision = "0076"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.alter_column("crm_connections", "turn", new_column_name="lease")


def downgrade() -> None:
    limit_locks()
    op.alter_column("crm_connections", "lease", new_column_name="turn")
