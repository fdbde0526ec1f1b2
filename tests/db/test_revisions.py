"""Migrations that run beside a working service."""

import ast
import asyncio
import re
from pathlib import Path

import asyncpg
import pytest
from alembic import command
from alembic.script import ScriptDirectory

from app.bootstrap import METADATA
from app.db import migrate
from app.db.schema import FOLDER
from tests.db.databases import execute, move

LATER = sorted((FOLDER / "versions").glob("*.py"))[1:]
INDEXED = re.compile(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(?:IF NOT EXISTS )?\S+ ON (?:ONLY )?([\w.{}]+)", re.I)
"""The table of an index that is built in the transaction of the migration."""
CREATED = re.compile(r"(?:CREATE TABLE (?:IF NOT EXISTS )?|create_table\(\s*[\"'])(\w+)", re.I)
PLACEHOLDERS = {"0009": {"{table.name}"}, "0018": {"{definition}"}}
"""Tables that a migration has just created under a name that it computes."""
REVISIONS = [path.name.partition("_")[0] for path in LATER]
PART = 16
"""Few migrations: each takes three moves of the schema, and a test has a limit of time."""


@pytest.mark.parametrize("path", LATER, ids=REVISIONS)
def test_a_migration_first_bounds_its_waits_for_locks(path: Path) -> None:
    moves = [each for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)]

    assert {each.name: ast.unparse(each.body[0]) for each in moves if each.name in ("upgrade", "downgrade")} == {
        "upgrade": "limit_locks()",
        "downgrade": "limit_locks()",
    }


@pytest.mark.parametrize("path", LATER, ids=REVISIONS)
def test_a_migration_builds_no_index_that_blocks_writes_to_an_older_table(path: Path) -> None:
    text = path.read_text()
    indexed = set(INDEXED.findall(text)) - PLACEHOLDERS.get(path.name[:4], set())

    assert "create_index" not in text
    assert indexed - set(CREATED.findall(text)) == set()


@pytest.mark.parametrize("start", range(0, len(REVISIONS), PART))
async def test_each_migration_is_taken_back_and_made_again(newest_url: str, start: int) -> None:
    scripts = ScriptDirectory.from_config(migrate.configuration(METADATA))
    part = list(scripts.walk_revisions())[:-1][start : start + PART]  # the newest first
    await move(newest_url, command.downgrade, part[0].revision)
    for script in part:
        before = script.down_revision
        assert isinstance(before, str)
        there = await indexes(newest_url)

        await move(newest_url, command.downgrade, before)
        await move(newest_url, command.upgrade, script.revision)

        assert await indexes(newest_url) == there, script.revision
        await move(newest_url, command.downgrade, before)


async def test_a_migration_that_cannot_lock_a_table_ends_and_is_run_again(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.db.revisions.LOCK_TIMEOUT", "50ms")
    await move(empty_url, command.upgrade, "0001")
    reader = await asyncpg.connect(empty_url)
    reading = reader.transaction()
    await reading.start()
    await reader.execute("LOCK TABLE contacts IN ACCESS SHARE MODE; LOCK TABLE contacts IN SHARE MODE")

    with pytest.raises(Exception, match="lock timeout"):
        await migrate.upgrade(empty_url, METADATA)
    await reading.rollback()
    await reader.close()
    await migrate.upgrade(empty_url, METADATA)

    assert "ix_contacts_emails" in await indexes(empty_url)


async def test_an_index_whose_building_was_interrupted_is_built_anew(empty_url: str) -> None:
    await move(empty_url, command.upgrade, "0001")
    await execute(empty_url, "CREATE INDEX ix_contacts_emails ON contacts (phone)")

    await asyncio.gather(*(migrate.upgrade(empty_url, METADATA) for _ in range(2)))

    assert "lower(email)" in (await indexes(empty_url))["ix_contacts_emails"]


async def indexes(url: str) -> dict[str, str]:
    """Return the definitions of all indexes by name."""
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
    await connection.close()
    return {row["indexname"]: row["indexdef"] for row in rows}
