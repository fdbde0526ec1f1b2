"""Messages, receipts and events in partitions by ranges of ids.

The tables become the first partitions. Attaching them reads each table once, which takes some seconds for ten million
rows, and nobody can use the tables meanwhile. Taking it back copies every row.

Code before this revision must not run on this schema: it identifies rows by their places, which are unique in one
partition only.
"""

from dataclasses import dataclass

import sqlalchemy as sa
from alembic import op

from app.db.revisions import limit_locks

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

oldest_code = "0009"
"""The revision of the oldest code that runs on the schema after this migration."""

RANGE = 10_000_000
AHEAD = 2 * RANGE


@dataclass(frozen=True)
class Table:
    """A table, the columns of its primary key, of which the first divides it, and what belongs to it."""

    name: str
    key: tuple[str, ...]
    sequence: str
    foreign_keys: tuple[str, ...] = ()
    indexes: tuple[tuple[str, str], ...] = ()
    triggers: tuple[tuple[str, str], ...] = ()

    @property
    def has_sequence(self) -> bool:
        """Return whether the ids of the sequence are those of the table itself."""
        return self.sequence == f"{self.name}_id_seq"


TABLES = (
    Table(
        "messages",
        ("id",),
        "messages_id_seq",
        (
            "fk_messages_account_id_accounts FOREIGN KEY (account_id) REFERENCES accounts (id)",
            "fk_messages_contact_id_contacts FOREIGN KEY (contact_id) REFERENCES contacts (id) ON DELETE CASCADE",
            "fk_messages_conversation_id_conversations FOREIGN KEY (conversation_id) REFERENCES conversations (id)"
            " ON DELETE CASCADE",
        ),
        (
            ("ix_messages_log", "(account_id, id DESC)"),
            ("ix_messages_status", "(account_id, status, id DESC)"),
            ("ix_messages_conversation_id", "(conversation_id, id)"),
            ("ix_messages_contact", "(contact_id, id)"),
        ),
    ),
    Table("receipts", ("message_id", "provider_message_id", "raw_status", "carrier_error", "part"), "messages_id_seq"),
    Table(
        "events",
        ("id",),
        "events_id_seq",
        indexes=(
            ("ix_events_account_id", "(account_id, id)"),
            ("ix_events_contact_id", "(contact_id) WHERE contact_id IS NOT NULL"),
        ),
        triggers=(
            (
                "queue_events",
                "AFTER INSERT ON events REFERENCING NEW TABLE AS recorded FOR EACH STATEMENT"
                " EXECUTE FUNCTION queue_events()",
            ),
        ),
    ),
)


def upgrade() -> None:
    limit_locks()
    op.execute("LOCK TABLE messages, receipts, events IN ACCESS EXCLUSIVE MODE")
    following = {table.name: _next_id(table) for table in TABLES}
    for table in TABLES:
        _divide(table, following[table.name])


def downgrade() -> None:
    limit_locks()
    op.execute("LOCK TABLE messages, receipts, events IN ACCESS EXCLUSIVE MODE")
    following = {table.name: _next_id(table) for table in TABLES}
    for table in TABLES:
        _join(table, following[table.name])


def _next_id(table: Table) -> int:
    found = f"SELECT last_value + is_called::int FROM {table.sequence}"
    return op.get_bind().execute(sa.text(found)).scalar_one()


def _divide(table: Table, following: int) -> None:
    first = f"{table.name}_from_0"
    for name, definition in table.triggers:
        op.execute(f"DROP TRIGGER {name} ON {table.name}")
    op.execute(f"ALTER TABLE {table.name} RENAME TO {first}")
    for name in (f"pk_{table.name}", *(name for name, _ in table.indexes)):
        op.execute(f"ALTER INDEX {name} RENAME TO {name}_from_0")
    if table.has_sequence:
        op.execute(f"ALTER TABLE {first} ALTER id DROP IDENTITY")
    op.execute(
        f"CREATE TABLE {table.name} (LIKE {first} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)"
        f" PARTITION BY RANGE ({table.key[0]})"
    )
    _complete(table, following)
    lower, end = 0, following + AHEAD
    for upper in range((following // RANGE + 1) * RANGE, end + RANGE, RANGE):
        name = f"{table.name}_from_{lower}"
        if lower:
            op.execute(f"CREATE TABLE {name} (LIKE {table.name} INCLUDING ALL EXCLUDING IDENTITY)")
        op.execute(
            f"ALTER TABLE {table.name} ATTACH PARTITION {name} FOR VALUES FROM ({lower or 'MINVALUE'}) TO ({upper})"
        )
        lower = upper


def _join(table: Table, following: int) -> None:
    whole = f"{table.name}_whole"
    op.execute(f"CREATE TABLE {whole} (LIKE {table.name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)")
    op.execute(f"INSERT INTO {whole} SELECT * FROM {table.name}")
    op.execute(f"DROP TABLE {table.name}")
    op.execute(f"ALTER TABLE {whole} RENAME TO {table.name}")
    _complete(table, following)


def _complete(table: Table, following: int) -> None:
    """Add the keys, indexes, triggers and the sequence of ids, which were another table's before."""
    op.execute(f"ALTER TABLE {table.name} ADD CONSTRAINT pk_{table.name} PRIMARY KEY ({', '.join(table.key)})")
    for key in table.foreign_keys:
        op.execute(f"ALTER TABLE {table.name} ADD CONSTRAINT {key}")
    for name, definition in table.indexes:
        op.execute(f"CREATE INDEX {name} ON {table.name} {definition}")
    for name, definition in table.triggers:
        op.execute(f"CREATE TRIGGER {name} {definition}")
    if table.has_sequence:
        op.execute(
            f"ALTER TABLE {table.name} ALTER id ADD GENERATED BY DEFAULT AS IDENTITY"
            f" (SEQUENCE NAME {table.sequence} START WITH {following})"
        )
