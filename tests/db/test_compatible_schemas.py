"""Schemas that the code of an older version can use, so that its processes run on while others are upgraded."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
import sqlalchemy
from alembic import command
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.ext.asyncio import create_async_engine

from app.bootstrap import METADATA
from app.db import migrate, schema
from app.db.schema import SchemaAhead
from tests.db.databases import execute

T = TypeVar("T")
NEWER = "UPDATE alembic_version SET version_num = '9999'"


@dataclass(frozen=True)
class Snapshot:
    """The columns of each table, and the constraints that a row must satisfy."""

    columns: Mapping[tuple[str, str], tuple[str, bool, bool]]
    constraints: frozenset[tuple[str, str, str]]


def take(connection: Connection) -> Snapshot:
    """Return the type of each column, and whether it is nullable and has a default; and all constraints."""
    found = sqlalchemy.inspect(connection)
    columns = {
        (table, column["name"]): (str(column["type"]), column["nullable"], _has_default(column))
        for (_, table), each in found.get_multi_columns().items()
        for column in each
    }
    constraints = {
        (table, kind, str(each["name"]))
        for kind, listed in (
            ("check", found.get_multi_check_constraints()),
            ("foreign", found.get_multi_foreign_keys()),
            ("unique", found.get_multi_indexes()),
        )
        for (_, table), entries in listed.items()
        for each in entries
        if kind != "unique" or each.get("unique")
    }
    return Snapshot(columns, frozenset(constraints))


def incompatible(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the changes that the code written for the schema `before` cannot work with."""
    tables = {table for table, _ in before.columns}
    lost = [f"{'.'.join(key)} is gone" for key in before.columns if key not in after.columns]
    changed = [
        f"{'.'.join(key)} has changed"
        for key, column in before.columns.items()
        if key in after.columns and after.columns[key] != column
    ]
    needed = [
        f"{'.'.join(key)} is new and needs a value"
        for key, (_, nullable, has_default) in after.columns.items()
        if key not in before.columns and key[0] in tables and not nullable and not has_default
    ]
    stricter = [f"{name} is new" for table, _, name in after.constraints - before.constraints if table in tables]
    return [*lost, *changed, *needed, *stricter]


def _has_default(column: Any) -> bool:
    return column["default"] is not None or bool(column.get("identity"))


def _scripts() -> list[Script]:
    """Return the migrations, the oldest first."""
    return list(ScriptDirectory.from_config(migrate.configuration(METADATA)).walk_revisions())[::-1]


async def _within(url: str, work: Callable[[Connection], T]) -> T:
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://"))
    try:
        async with engine.connect() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def test_the_code_that_a_migration_states_can_use_its_schema(empty_url: str) -> None:
    stated = {script.revision: script.module.oldest_code for script in _scripts()}

    def take_each(connection: Connection) -> dict[str, Snapshot]:
        snapshots = dict[str, Snapshot]()
        for revision in stated:
            command.upgrade(migrate.configuration(METADATA, connection), revision)
            snapshots[revision] = take(connection)
            connection.commit()
        return snapshots

    snapshots = await _within(empty_url, take_each)

    assert {
        revision: problems
        for revision, oldest in stated.items()
        if (problems := incompatible(snapshots[oldest], snapshots[revision]))
    } == {}


def test_no_migration_states_older_code_than_the_one_before_it() -> None:
    stated = [script.module.oldest_code for script in _scripts()]

    assert stated == sorted(stated)


def test_each_migration_bounds_its_wait_for_locks_and_can_be_reversed_or_says_why_not() -> None:
    for script in _scripts()[1:]:
        assert "limit_locks()" in inspect.getsource(script.module.upgrade), script.revision
        assert hasattr(script.module, "downgrade") or "irreversible" in (script.module.__doc__ or ""), script.revision


CHANGES = {
    "ALTER TABLE webhook_deliveries ADD COLUMN note text": [],
    "ALTER TABLE webhook_deliveries ADD COLUMN note text NOT NULL DEFAULT ''": [],
    "CREATE TABLE notes (id bigint PRIMARY KEY, body text NOT NULL CHECK (body <> ''))": [],
    "ALTER TABLE webhook_deliveries ADD COLUMN note text NOT NULL": [
        "webhook_deliveries.note is new and needs a value"
    ],
    "ALTER TABLE webhook_attempts DROP COLUMN error": ["webhook_attempts.error is gone"],
    "ALTER TABLE webhook_deliveries ALTER COLUMN attempts TYPE int": ["webhook_deliveries.attempts has changed"],
    "ALTER TABLE webhook_deliveries ALTER COLUMN body SET NOT NULL": ["webhook_deliveries.body has changed"],
    "ALTER TABLE webhook_deliveries ADD CONSTRAINT short CHECK (attempts < 9)": ["short is new"],
    "CREATE UNIQUE INDEX once ON webhook_deliveries (webhook_id)": ["once is new"],
}


async def test_a_change_that_older_code_cannot_use_is_found(newest_url: str) -> None:

    def find(connection: Connection) -> dict[str, list[str]]:
        before, found = take(connection), dict[str, list[str]]()
        for statement in CHANGES:
            with connection.begin_nested() as change:
                connection.exec_driver_sql(statement)
                found[statement] = incompatible(before, take(connection))
                change.rollback()
        return found

    assert await _within(newest_url, find) == CHANGES


async def test_an_upgrade_states_the_oldest_code_of_the_last_migration(newest_url: str) -> None:

    stated = await _within(
        newest_url,
        lambda connection: connection.exec_driver_sql(
            "SELECT obj_description('alembic_version'::regclass, 'pg_class')"
        ).scalar_one(),
    )

    assert stated == _scripts()[-1].module.oldest_code


async def test_a_newer_schema_that_states_this_code_counts_as_the_newest(newest_url: str) -> None:
    await execute(newest_url, NEWER)
    await execute(newest_url, f"COMMENT ON TABLE alembic_version IS '{schema.newest()}'")

    assert await schema.current(newest_url) == schema.newest()
    await schema.check(newest_url)


async def test_a_newer_schema_that_states_newer_code_is_refused(newest_url: str) -> None:
    await execute(newest_url, NEWER)
    await execute(newest_url, "COMMENT ON TABLE alembic_version IS '9998'")

    with pytest.raises(SchemaAhead):
        await schema.check(newest_url)
