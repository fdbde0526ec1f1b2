"""Knowing whether a database has the schema that the code needs."""

import asyncio

import pytest
from alembic.script import ScriptDirectory

from app.bootstrap import METADATA
from app.db import migrate, schema
from app.db.engine import UNREACHABLE
from app.db.schema import SchemaAhead, SchemaBehind
from tests.db.databases import execute, named
from tests.factories.traps import END_SESSION
from tests.waiting import PATIENCE_SECONDS

NOWHERE = "postgresql://postgres@127.0.0.1:1/messaging"


def test_the_newest_revision_is_the_one_that_migrations_end_with() -> None:
    assert ScriptDirectory.from_config(migrate.configuration(METADATA)).get_heads() == [schema.newest()]


async def test_a_database_tells_its_revision(empty_url: str) -> None:
    assert await schema.current(empty_url) is None

    await migrate.upgrade(empty_url, METADATA)
    assert await schema.current(empty_url) == schema.newest()

    await execute(empty_url, "UPDATE alembic_version SET version_num = '0001'")
    assert await schema.current(empty_url) == "0001"


async def test_a_database_that_cannot_be_reached_has_no_revision(empty_url: str) -> None:
    assert await schema.current(NOWHERE) is None
    assert await schema.current(named(empty_url, "no_such_database")) is None


async def test_a_check_of_a_database_that_cannot_be_reached_does_not_call_the_schema_old() -> None:
    with pytest.raises(UNREACHABLE):
        await schema.check(NOWHERE)


async def test_a_check_whose_connection_ends_does_not_call_the_schema_old(
    newest_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "_FIND_REVISION", END_SESSION)

    with pytest.raises(UNREACHABLE):
        await schema.check(newest_url)


@pytest.mark.parametrize("statement", [END_SESSION, "SELECT 1 FROM no_such_table", "SELECT pg_sleep(60)"])
async def test_a_statement_that_fails_or_does_not_end_finds_no_value(
    newest_url: str, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.setattr(schema, "CONNECT_SECONDS", PATIENCE_SECONDS)
    assert await schema.find_value(newest_url, "SELECT 1") == 1
    monkeypatch.setattr(schema, "CONNECT_SECONDS", 1.0)

    assert await schema.find_value(newest_url, statement) is None


async def test_a_wait_for_the_schema_ends_once_the_schema_is_there(empty_url: str) -> None:
    waiting = asyncio.create_task(schema.wait_for(empty_url))

    await migrate.upgrade(empty_url, METADATA)

    assert await waiting is None


@pytest.mark.parametrize("name", [None, "no_such_database"])
async def test_a_wait_for_the_schema_that_times_out_names_the_cause(
    empty_url: str, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    monkeypatch.setattr(schema, "PATIENCE", 0.2)

    with pytest.raises(SchemaBehind, match=r"^The database cannot be reached, or lacks migrations\."):
        await schema.wait_for(named(empty_url, name) if name else empty_url)


async def test_a_wait_for_an_unreachable_server_times_out_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "PATIENCE", 0.2)

    with pytest.raises(SchemaBehind):
        await schema.wait_for(NOWHERE)


async def test_a_database_that_a_newer_version_made_is_told_at_once(newest_url: str) -> None:
    await execute(newest_url, "UPDATE alembic_version SET version_num = '9999'")
    await execute(newest_url, "COMMENT ON TABLE alembic_version IS '9999'")

    with pytest.raises(SchemaAhead) as told:
        await schema.wait_for(newest_url)

    assert str(told.value) == (
        f"A newer version of the service made the database (its schema is 9999, this version knows {schema.newest()}). "
        "Run that version again, or restore a backup."
    )
