"""${message}."""

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
from app.db.revisions import limit_locks

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None

oldest_code = ${repr(down_revision)}
"""The revision of the oldest code that runs on the schema after this migration."""


def upgrade() -> None:
    limit_locks()
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    limit_locks()
    ${downgrades if downgrades else "pass"}
