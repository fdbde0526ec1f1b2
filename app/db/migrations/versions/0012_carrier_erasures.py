"""Erasures that carriers still have to do; phones leave the ledger and the events of phones without a contact."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "carrier_erasures",
        sa.Column("message_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("provider_message_id", sa.Text(), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_carrier_erasures")),
    )
    op.create_index("ix_carrier_erasures_due_at", "carrier_erasures", ["due_at"], unique=False)
    op.create_index("ix_sandbox_callbacks_reference", "sandbox_callbacks", ["reference"], unique=False)
    op.execute(
        "UPDATE ledger_entries SET description = 'Message ' || message_id "
        "WHERE message_id IS NOT NULL AND description LIKE 'Message to %'"
    )
    op.execute(
        "UPDATE events SET payload = (payload::jsonb || '{\"to_number\": \"\"}')::json "
        "WHERE name = 'send_blocked' AND contact_id IS NULL"
    )
