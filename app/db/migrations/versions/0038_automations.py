"""Automations, their runs, and matches, replies and hits of watched keywords."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from app.db.revisions import build_indexes, limit_locks

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

oldest_code = "0016"
"""The revision of the oldest code that runs on the schema after this migration."""

INDEXES = {
    "ix_automations_account_id": "automations (account_id, id)",
    "ix_automations_event": "automations (account_id, event) WHERE status = 'active'",
    "ix_automations_next_at": "automations (next_at) WHERE status = 'active' AND next_at IS NOT NULL",
    "ix_automation_runs_account_id": "automation_runs (account_id, id)",
    "ix_automation_runs_contact_id": "automation_runs (contact_id, created_at)",
    "ix_automation_runs_due": "automation_runs (due_at, id) WHERE due_at IS NOT NULL",
}
ONCE = "uq_automation_runs_automation_id_contact_id_key"
KEYWORD_COLUMNS = ("match", "phone_number_id", "is_active", "opts_in", "reply", "hits")


def _text(name: str, default: str | None = None, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), server_default=default, nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, postgresql.JSONB(), nullable=nullable)


def _time(name: str) -> sa.Column[sa.DateTime]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=True)


def _created(name: str = "created_at") -> sa.Column[sa.DateTime]:
    return sa.Column(name, sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False)


def _of_account(name: str) -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("account_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=f"fk_{name}_account_id_accounts"),
        sa.PrimaryKeyConstraint("id", name=f"pk_{name}"),
    )


def _parent(column: str, table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_automation_runs_{column}_{table}"
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    limit_locks()
    op.create_table(
        "automations",
        *_of_account("automations"),
        _text("name"),
        _text("status", "paused"),
        _text("event", nullable=True),
        _json("trigger"),
        _json("filter", nullable=True),
        _json("actions"),
        *map(_time, ("next_at", "active_since")),
        _text("created_by"),
        *map(_created, ("created_at", "updated_at")),
    )
    op.create_table(
        "automation_runs",
        *_of_account("automation_runs"),
        sa.Column("automation_id", sa.BigInteger(), nullable=True),
        sa.Column("contact_id", sa.BigInteger(), nullable=False),
        _text("key"),
        _text("status", "running"),
        _text("reason", ""),
        sa.Column("chain", sa.ARRAY(sa.BigInteger()), server_default="{}", nullable=False),
        sa.Column("position", sa.BigInteger(), server_default="0", nullable=False),
        *map(_json, ("payload", "actions", "conditions", "results")),
        *map(_time, ("due_at", "claimed_until", "ended_at")),
        _created(),
        _parent("automation_id", "automations"),
        _parent("contact_id", "contacts"),
        sa.UniqueConstraint("automation_id", "contact_id", "key", name=ONCE),
    )
    columns = (
        _text("match", "exact"),
        sa.Column("phone_number_id", sa.BigInteger(), nullable=True),
        sa.Column("is_active", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("opts_in", sa.Boolean(), server_default=sa.false(), nullable=False),
        _text("reply", ""),
        sa.Column("hits", sa.BigInteger(), server_default="0", nullable=False),
    )
    for column in columns:
        op.add_column("watched_keywords", column)
    build_indexes(INDEXES)


def downgrade() -> None:
    limit_locks()
    for name in KEYWORD_COLUMNS:
        op.drop_column("watched_keywords", name)
    op.drop_table("automation_runs")
    op.drop_table("automations")
