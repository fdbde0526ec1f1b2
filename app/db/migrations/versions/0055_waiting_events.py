"""An index of the waiting events of each integration; a new change makes a waiting push to a CRM due at once."""

from alembic import op

from app.db.revisions import build_indexes, drop_indexes, limit_locks

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_integration_events_waiting": "integration_events (integration_id, due_at, id) WHERE status = 'waiting'",
}
REPLACED = {"ix_integration_events_due": "integration_events (due_at, id) WHERE status = 'waiting'"}

_SAME = "changes = crm_pushes.changes || excluded.changes, version = crm_pushes.version + 1"

PUSH = """
CREATE OR REPLACE FUNCTION push_contacts_to_crms() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  at timestamptz := CASE WHEN TG_OP = 'UPDATE' AND NEW.updated_at = OLD.updated_at THEN now() ELSE NEW.updated_at END;
  changed jsonb := '{{}}';
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
  DO UPDATE SET {change};
  RETURN NULL;
END $$
"""


def upgrade() -> None:
    limit_locks()
    op.execute(PUSH.format(change=f"{_SAME}, due_at = least(crm_pushes.due_at, excluded.due_at)"))
    build_indexes(INDEXES)
    drop_indexes(*REPLACED)


def downgrade() -> None:
    limit_locks()
    op.execute(PUSH.format(change=_SAME))
    build_indexes(REPLACED)
    drop_indexes(*INDEXES)
