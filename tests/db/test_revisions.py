"""Migrations that run beside a working service."""

import ast
import asyncio
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
REVISIONS = [path.name.partition("_")[0] for path in LATER]


@pytest.mark.parametrize("path", LATER, ids=REVISIONS)
def test_a_migration_first_bounds_its_waits_for_locks(path: Path) -> None:
    moves = [each for each in ast.parse(path.read_text()).body if isinstance(each, ast.FunctionDef)]

    assert {each.name: ast.unparse(each.body[0]) for each in moves if each.name in ("upgrade", "downgrade")} == {
        "upgrade": "limit_locks()",
        "downgrade": "limit_locks()",
    }


@pytest.mark.parametrize("path", LATER, ids=REVISIONS)
def test_a_migration_builds_no_index_that_blocks_writes(path: Path) -> None:
    assert "create_index" not in path.read_text()


async def test_each_migration_is_taken_back_and_made_again(newest_url: str) -> None:
    scripts = ScriptDirectory.from_config(migrate.configuration(METADATA))
    for script in list(scripts.walk_revisions())[:-1]:  # the newest first
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

    assert "ix_contacts_email" in await indexes(empty_url)


async def test_an_index_whose_building_was_interrupted_is_built_anew(empty_url: str) -> None:
    await move(empty_url, command.upgrade, "0001")
    await execute(empty_url, "CREATE INDEX ix_contacts_email ON contacts (phone)")

    await asyncio.gather(*(migrate.upgrade(empty_url, METADATA) for _ in range(2)))

    assert "lower(email)" in (await indexes(empty_url))["ix_contacts_email"]


async def indexes(url: str) -> dict[str, str]:
    """Return the definitions of all indexes by name."""
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
    await connection.close()
    return {row["indexname"]: row["indexdef"] for row in rows}
