"""Integrations, the events that arrive for them, bookings, and the texts about bookings."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_integrations_account_id": "integrations (account_id, id)",
    "ix_integration_events_log": "integration_events (account_id, id)",
    "ix_integration_events_due": "integration_events (due_at, id) WHERE status = 'waiting'",
    "ix_integration_events_contact_id": "integration_events (contact_id) WHERE contact_id IS NOT NULL",
    "ix_integration_events_received_at": "integration_events (received_at)",
    "ix_bookings_account_id": "bookings (account_id, id)",
    "ix_bookings_contact_id": "bookings (contact_id) WHERE contact_id IS NOT NULL",
    "ix_bookings_updated_at": "bookings (updated_at)",
    "ix_booking_texts_account_id": "booking_texts (account_id)",
    "ix_booking_texts_due": "booking_texts (due_at, id) WHERE status = 'waiting'",
}


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "integrations",
        *_key_of_account(),
        *_texts("kind", "name", "address"),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("previous_secret", sa.LargeBinary()),
        sa.Column("previous_until", _time()),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("phone_number_id", sa.BigInteger()),
        *_texts("consent_question", empty=True),
        sa.Column("texts", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("actions", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        *_counts("received", "refused", "failed"),
        sa.Column("last_received_at", _time()),
        sa.Column("last_refused_at", _time()),
        *_texts("last_error", empty=True),
        sa.Column("last_error_at", _time()),
        sa.Column("created_at", _time(), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_integrations"),
        sa.UniqueConstraint("address", name="uq_integrations_address"),
    )
    op.create_table(
        "integration_events",
        *_key_of_account(),
        _parent("integration_id", "integrations"),
        *_texts("key", "event", "body"),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        *_texts("result", empty=True),
        *_counts("attempts"),
        sa.Column("due_at", _time(), nullable=False),
        sa.Column("contact_id", sa.BigInteger()),
        sa.Column("booking_id", sa.BigInteger()),
        sa.Column("received_at", _time(), nullable=False),
        sa.Column("applied_at", _time()),
        sa.PrimaryKeyConstraint("id", name="pk_integration_events"),
        sa.UniqueConstraint("integration_id", "key", name="uq_integration_events_integration_id_key"),
    )
    op.create_table(
        "bookings",
        *_key_of_account(),
        _parent("integration_id", "integrations"),
        *_texts("external_id"),
        *_texts("replaces", empty=True),
        sa.Column("status", sa.Text(), server_default="booked", nullable=False),
        sa.Column("is_known", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("is_moved", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("made_at", _time(), nullable=False),
        sa.Column("starts_at", _time()),
        sa.Column("ends_at", _time()),
        *_texts("time_zone", "name", "email", "phone", "title", "location", "cancel_url", "reschedule_url", empty=True),
        sa.Column("consent", sa.Text()),
        sa.Column("contact_id", sa.BigInteger(), sa.ForeignKey("contacts.id", ondelete="SET NULL")),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("updated_at", _time(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_bookings"),
        sa.UniqueConstraint("integration_id", "external_id", name="uq_bookings_integration_id_external_id"),
    )
    op.create_table(
        "booking_texts",
        *_key_of_account(),
        _parent("booking_id", "bookings"),
        *_texts("kind"),
        sa.Column("starts_at", _time(), nullable=False),
        sa.Column("due_at", _time(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        *_texts("reason", empty=True),
        sa.Column("claimed_until", _time()),
        *_counts("attempts"),
        sa.Column("message_id", sa.BigInteger()),
        sa.Column("sent_at", _time()),
        sa.PrimaryKeyConstraint("id", name="pk_booking_texts"),
        sa.UniqueConstraint("booking_id", "kind", "starts_at", name="uq_booking_texts_booking_id_kind_starts_at"),
    )
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    for name in ("booking_texts", "bookings", "integration_events", "integrations"):
        op.drop_table(name)


def _time() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def _key_of_account() -> list[sa.Column]:
    key = sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False)
    return [key, sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False)]


def _parent(name: str, table: str) -> sa.Column:
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), nullable=False)


def _texts(*names: str, empty: bool = False) -> list[sa.Column]:
    return [sa.Column(name, sa.Text(), server_default="" if empty else None, nullable=False) for name in names]


def _counts(*names: str) -> list[sa.Column]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]
