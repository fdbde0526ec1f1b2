"""Steps of migrations that run while other processes use the database."""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

RANGE = 10_000
"""The ids of the rows that one statement of `update_in_ranges` may change."""

LOCK_TIMEOUT = "5s"
"""The time that a migration waits for a lock on a table: whatever queues behind it waits as long."""


def limit_locks() -> None:
    """Bound every later wait for a lock of this migration by `LOCK_TIMEOUT`; begin each migration with it."""
    op.execute(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'")


def build_indexes(definitions: Mapping[str, str]) -> None:
    """Build indexes, given as `table (columns) ...` by name, without blocking writes.

    It commits the transaction of the migration, so call it last, or in a migration of its own. It may be run again
    after an interruption: a part of an index that is left is dropped first.
    """
    with op.get_context().autocommit_block():
        for name, definition in definitions.items():
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            op.execute(f"CREATE INDEX CONCURRENTLY {name} ON {definition}")


def drop_indexes(*names: str) -> None:
    """Drop indexes without blocking writes; like `build_indexes`, it commits, and may be run again."""
    with op.get_context().autocommit_block():
        for name in names:
            op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")


def update_in_ranges(table: str, statement: str) -> None:
    """Run a statement on the rows of a table with ids from `:first` to `:last`, and commit after each such range.

    Like `build_indexes`, it commits, so that no lock on a row or a table lasts long. It may be run again, so let the
    statement leave out the rows that are done.
    """
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        least, greatest = connection.execute(sa.text(f"SELECT min(id), max(id) FROM {table}")).one()
        for first in range(least, greatest + 1, RANGE) if greatest else ():
            connection.execute(sa.text(statement), {"first": first, "last": first + RANGE - 1})
