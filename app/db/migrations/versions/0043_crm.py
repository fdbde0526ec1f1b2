"""Connections to CRMs, links of contacts with their records there, and the work towards and from them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_crm_connections_account_id": "crm_connections (account_id, id)",
    "ix_crm_links_account_id": "crm_links (account_id, id)",
    "ix_crm_links_contact_id": "crm_links (contact_id) WHERE contact_id IS NOT NULL",
    "ix_crm_pushes_log": "crm_pushes (account_id, id)",
    "ix_crm_pushes_due": "crm_pushes (integration_id, due_at, id) WHERE status = 'waiting'",
    "ix_crm_pushes_contact_id": "crm_pushes (contact_id) WHERE contact_id IS NOT NULL",
    "ix_crm_pushes_created_at": "crm_pushes (created_at)",
    "ix_crm_sends_account_id": "crm_sends (account_id, id)",
    "ix_crm_sends_due": "crm_sends (due_at, id) WHERE status = 'waiting'",
    "ix_crm_sends_message_id": "crm_sends (message_id) WHERE message_id IS NOT NULL",
}
UNIQUE = {
    "uq_crm_pushes_contact": "(integration_id, contact_id) WHERE kind = 'contact' AND status = 'waiting'",
    "uq_crm_pushes_check": "(integration_id, external_id) WHERE kind = 'check' AND status = 'waiting'",
    "uq_crm_pushes_message": "(integration_id, kind, message_id) WHERE message_id IS NOT NULL",
}

PUSH = """
CREATE FUNCTION push_contacts_to_crms() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := CASE WHEN TG_OP = 'UPDATE' AND NEW.updated_at = OLD.updated_at THEN now() ELSE NEW.updated_at END;
  changed jsonb := '{}';
BEGIN
  IF TG_OP = 'UPDATE' THEN
    changed := jsonb_strip_nulls(jsonb_build_object(
      'first_name', CASE WHEN NEW.first_name <> OLD.first_name THEN at END,
      'last_name', CASE WHEN NEW.last_name <> OLD.last_name THEN at END,
      'email', CASE WHEN NEW.email <> OLD.email THEN at END,
      'dnd', CASE WHEN (NEW.dnd_sms, NEW.status) <> (OLD.dnd_sms, OLD.status) THEN at END
    ));
  END IF;
  INSERT INTO crm_pushes (account_id, integration_id, kind, contact_id, changes, due_at, created_at)
  SELECT NEW.account_id, c.integration_id, 'contact', NEW.id, changed, least(at, now()), at
  FROM crm_connections c WHERE c.account_id = NEW.account_id AND c.integration_id IS NOT NULL
  ON CONFLICT (integration_id, contact_id) WHERE kind = 'contact' AND status = 'waiting'
  DO UPDATE SET changes = crm_pushes.changes || excluded.changes, version = crm_pushes.version + 1;
  RETURN NULL;
END $$
"""
TRIGGERS = {
    "push_contacts_to_crms_insert": ("INSERT", "true"),
    "push_contacts_to_crms_update": (
        "UPDATE OF phone, first_name, last_name, email, dnd_sms, status",
        "(OLD.phone, OLD.first_name, OLD.last_name, OLD.email, OLD.dnd_sms, OLD.status) IS DISTINCT FROM"
        " (NEW.phone, NEW.first_name, NEW.last_name, NEW.email, NEW.dnd_sms, NEW.status)",
    ),
}


def upgrade() -> None:
    limit_locks()
    _create_connections()
    _create_links()
    _create_pushes()
    _create_sends()
    for name, part in UNIQUE.items():
        op.execute(f"CREATE UNIQUE INDEX {name} ON crm_pushes {part}")
    op.execute(PUSH)
    for name, (change, condition) in TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER {name} AFTER {change} ON contacts FOR EACH ROW WHEN ({condition}) "
            "EXECUTE FUNCTION push_contacts_to_crms()"
        )
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    for name in TRIGGERS:
        op.execute(f"DROP TRIGGER {name} ON contacts")
    op.execute("DROP FUNCTION push_contacts_to_crms()")
    for name in ("crm_sends", "crm_pushes", "crm_links", "crm_connections"):
        op.drop_table(name)


def _create_connections() -> None:
    op.create_table(
        "crm_connections",
        *_key_of_account(),
        sa.Column("integration_id", sa.BigInteger(), sa.ForeignKey("integrations.id", ondelete="SET NULL")),
        *_texts("kind", "location"),
        sa.Column("tokens", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _time(), nullable=False),
        sa.Column("state", sa.Text(), server_default="authorized", nullable=False),
        *_texts("error", empty=True),
        *(sa.Column(name, _time()) for name in ("error_at", "leased_until", "resting_until")),
        *_counts("failures"),
        sa.Column("sync", sa.Text(), server_default="fetching", nullable=False),
        *_texts("cursor", empty=True),
        *_counts("fetched", "offered"),
        sa.Column("total", sa.BigInteger()),
        sa.Column("fetched_until", _time()),
        sa.Column("fetch_at", _time(), nullable=False),
        sa.Column("created_at", _time(), server_default=sa.func.now(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_crm_connections"),
        sa.UniqueConstraint("integration_id", name="uq_crm_connections_integration_id"),
    )


def _create_links() -> None:
    op.create_table(
        "crm_links",
        *_key_of_account(),
        _integration(),
        sa.Column("contact_id", sa.BigInteger(), sa.ForeignKey("contacts.id", ondelete="SET NULL")),
        *_texts("external_id"),
        sa.Column("fields", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("is_deleted", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_crm_links"),
        sa.UniqueConstraint("integration_id", "external_id", name="uq_crm_links_integration_id_external_id"),
        sa.UniqueConstraint("integration_id", "contact_id", name="uq_crm_links_integration_id_contact_id"),
    )


def _create_pushes() -> None:
    op.create_table(
        "crm_pushes",
        *_key_of_account(),
        _integration(),
        *_texts("kind"),
        sa.Column("contact_id", sa.BigInteger(), sa.ForeignKey("contacts.id", ondelete="CASCADE")),
        sa.Column("message_id", sa.BigInteger()),
        *_texts("external_id", empty=True),
        sa.Column("changes", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default="1", nullable=False),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        *_texts("reason", empty=True),
        *_counts("attempts"),
        sa.Column("due_at", _time(), nullable=False),
        sa.Column("created_at", _time(), nullable=False),
        sa.Column("done_at", _time()),
        sa.PrimaryKeyConstraint("id", name="pk_crm_pushes"),
    )


def _create_sends() -> None:
    op.create_table(
        "crm_sends",
        *_key_of_account(),
        _integration(),
        *_texts("external_id", "contact_external_id", "phone", "body"),
        sa.Column("status", sa.Text(), server_default="waiting", nullable=False),
        *_texts("reason", empty=True),
        sa.Column("message_id", sa.BigInteger()),
        *_counts("attempts"),
        sa.Column("due_at", _time(), nullable=False),
        sa.Column("claimed_until", _time()),
        sa.Column("created_at", _time(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_crm_sends"),
        sa.UniqueConstraint("integration_id", "external_id", name="uq_crm_sends_integration_id_external_id"),
    )


def _time() -> sa.DateTime:
    return sa.DateTime(timezone=True)


def _key_of_account() -> list[sa.Column]:
    key = sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False)
    return [key, sa.Column("account_id", sa.BigInteger(), sa.ForeignKey("accounts.id"), nullable=False)]


def _integration() -> sa.Column:
    parent = sa.ForeignKey("integrations.id", ondelete="CASCADE")
    return sa.Column("integration_id", sa.BigInteger(), parent, nullable=False)


def _texts(*names: str, empty: bool = False) -> list[sa.Column]:
    return [sa.Column(name, sa.Text(), server_default="" if empty else None, nullable=False) for name in names]


def _counts(*names: str) -> list[sa.Column]:
    return [sa.Column(name, sa.BigInteger(), server_default="0", nullable=False) for name in names]
