"""The index by which the carriers' ids of the parts of a message end with it; those of messages that ended before go."""

from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0086"
down_revision = "0085"
branch_labels = None
depends_on = None

oldest_code = "0077"
"""The revision of the oldest code that runs on the schema after this migration."""

LEFT = """
DELETE FROM carrier_ids n WHERE n.parts > 1 AND NOT EXISTS (SELECT FROM messages m WHERE m.id = n.message_id)
"""
NEW = {"ix_carrier_ids_parts": "carrier_ids (message_id) WHERE parts > 1"}


def upgrade() -> None:
    limit_locks()
    op.execute(LEFT)
    build_indexes(NEW)


def downgrade() -> None:
    limit_locks()
    drop_indexes(*NEW)
