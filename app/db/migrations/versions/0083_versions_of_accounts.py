"""Pages of accounts with much free space: PostgreSQL removes the old versions of a row once a page has little.

Each batch of texts changes the row of its account, and each of its texts refers to the account: the check of each
foreign key went through all old versions of a page.
"""

from alembic import op

from app.db.revisions import limit_locks

revision = "0083"
down_revision = "0082"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    op.execute("ALTER TABLE accounts SET (fillfactor = 10)")


def downgrade() -> None:
    limit_locks()
    op.execute("ALTER TABLE accounts RESET (fillfactor)")
