"""Versions, windows, exits and pauses of drip sequences, and the messages that their enrollments wait for.

Code before this revision must not run on this schema: it would send the steps of every version.
"""

import sqlalchemy as sa
from alembic import op

from app.db.revisions import build_indexes, limit_locks

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

oldest_code = "0056"
"""The revision of the oldest code that runs on the schema after this migration."""

TEXTS = sa.ARRAY(sa.Text())
SEQUENCES = (
    sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
    sa.Column("steps_version", sa.BigInteger(), server_default="1", nullable=False),
    sa.Column("exits_on_reply", sa.Boolean(), server_default=sa.text("true"), nullable=False),
    sa.Column("exit_stages", TEXTS, server_default=sa.text("'{}'"), nullable=False),
    sa.Column("exit_tags", TEXTS, server_default=sa.text("'{}'"), nullable=False),
    sa.Column("window_start", sa.BigInteger(), nullable=True),
    sa.Column("window_end", sa.BigInteger(), nullable=True),
    sa.Column("window_days", TEXTS, server_default=sa.text("'{}'"), nullable=False),
    sa.Column("re_enroll_after_days", sa.BigInteger(), server_default="0", nullable=True),
    sa.Column("skips_refused", sa.Boolean(), server_default=sa.text("false"), nullable=False),
    sa.Column("has_set_aside", sa.Boolean(), server_default=sa.text("false"), nullable=False),
)
STEPS = (
    sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
    sa.Column("key", sa.BigInteger(), nullable=True),
    sa.Column("sent", sa.BigInteger(), server_default="0", nullable=False),
)
ENROLLMENTS = (
    sa.Column("steps_version", sa.BigInteger(), server_default="1", nullable=False),
    sa.Column("remaining", sa.Interval(), nullable=True),
    sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True),
    sa.Column("last_message_id", sa.BigInteger(), nullable=True),
)
ADDED = {"sequences": SEQUENCES, "sequence_steps": STEPS, "sequence_enrollments": ENROLLMENTS}

FILL_STEPS = """
UPDATE sequence_steps s SET key = s.position,
  sent = (SELECT count(*) FROM sequence_enrollments e WHERE e.sequence_id = s.sequence_id AND e.position > s.position)
"""
FILL_PAUSED = "UPDATE sequences SET has_set_aside = true WHERE status = 'paused'"

INDEXES = {
    "ix_sequences_set_aside": "sequences (id) WHERE has_set_aside AND status = 'active'",
    "ix_sequence_enrollments_set_aside": (
        "sequence_enrollments (sequence_id, id) WHERE status = 'active' AND is_set_aside"
    ),
    "ix_sequence_enrollments_last_message_id": (
        "sequence_enrollments (last_message_id) WHERE status IN ('active', 'finishing')"
    ),
    "ix_sequence_enrollments_counts": (
        "sequence_enrollments (sequence_id, status, steps_version, position)"
        " INCLUDE (exit_reason, remaining, paused_until)"
    ),
}


def upgrade() -> None:
    limit_locks()
    for table, columns in ADDED.items():
        for column in columns:
            op.add_column(table, column)
    op.alter_column("sequence_enrollments", "is_paused", new_column_name="is_set_aside")
    op.execute(FILL_STEPS)
    op.execute(FILL_PAUSED)
    op.alter_column("sequence_steps", "key", nullable=False)
    op.drop_constraint("uq_sequence_steps_sequence_id_position", "sequence_steps")
    for last in ("position", "key"):
        name = f"uq_sequence_steps_sequence_id_version_{last}"
        op.create_unique_constraint(name, "sequence_steps", ["sequence_id", "version", last])
    build_indexes(INDEXES)


TAKE_BACK = """
UPDATE sequence_enrollments SET status = CASE status WHEN 'finishing' THEN 'completed' ELSE status END,
  ended_at = CASE status WHEN 'finishing' THEN now() ELSE ended_at END,
  next_send_at = coalesce(next_send_at, CASE status WHEN 'active' THEN now() + remaining END)
WHERE status IN ('active', 'finishing')
"""


def downgrade() -> None:
    limit_locks()
    op.execute(TAKE_BACK)
    op.execute("DELETE FROM sequence_steps s USING sequences q WHERE q.id = s.sequence_id AND s.version < q.steps_version")
    for last in ("position", "key"):
        op.drop_constraint(f"uq_sequence_steps_sequence_id_version_{last}", "sequence_steps")
    op.create_unique_constraint(
        "uq_sequence_steps_sequence_id_position", "sequence_steps", ["sequence_id", "position"]
    )
    op.drop_index("ix_sequence_enrollments_set_aside")
    op.drop_index("ix_sequences_set_aside")
    op.alter_column("sequence_enrollments", "is_set_aside", new_column_name="is_paused")
    for table, columns in ADDED.items():
        for column in columns:
            op.drop_column(table, column.name)
