"""Bringing a database to the newest schema."""

import asyncio

import asyncpg
import pytest
from alembic import command
from sqlalchemy import Column, Integer, MetaData, Table
from sqlalchemy.ext.asyncio import create_async_engine

from app.bootstrap import METADATA
from app.db import migrate
from tests.db.databases import execute, move


async def test_an_empty_database_becomes_what_the_models_say(empty_url: str) -> None:
    await migrate.upgrade(empty_url, METADATA)

    assert await _difference(empty_url, METADATA) == []


async def test_what_the_migrations_lack_is_a_difference(empty_url: str) -> None:
    planned = MetaData()
    for table in METADATA.sorted_tables:
        table.to_metadata(planned)
    planned.tables["contacts"].append_column(Column("nickname", Integer))
    Table("plans", planned, Column("id", Integer, primary_key=True))
    await migrate.upgrade(empty_url, METADATA)

    found = await _difference(empty_url, planned)

    assert [change[0] for change in found] == ["add_table", "add_column"]


async def test_a_second_upgrade_changes_nothing(empty_url: str) -> None:
    await migrate.upgrade(empty_url, METADATA)
    await execute(empty_url, "INSERT INTO accounts (company_name, rate) VALUES ('Blue Door', 0.01)")

    await migrate.upgrade(empty_url, METADATA)

    assert await _value(empty_url, "SELECT company_name FROM accounts") == "Blue Door"
    assert await _value(empty_url, "SELECT count(*) FROM alembic_version") == 1


async def test_two_upgrades_at_once_are_one(empty_url: str) -> None:
    await asyncio.gather(*(migrate.upgrade(empty_url, METADATA) for _ in range(2)))

    assert await _difference(empty_url, METADATA) == []
    assert await _value(empty_url, "SELECT count(*) FROM alembic_version") == 1


async def test_an_upgrade_that_fails_leaves_nothing_behind(empty_url: str) -> None:
    await execute(empty_url, "CREATE TABLE messages (id int)")

    with pytest.raises(Exception, match='relation "messages" already exists'):
        await migrate.upgrade(empty_url, METADATA)

    tables = await _value(empty_url, "SELECT array_agg(tablename) FROM pg_tables WHERE schemaname = 'public'")
    assert tables == ["messages"]


async def _difference(url: str, metadata: MetaData) -> list[tuple[object, ...]]:
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))
    try:
        return await migrate.difference(engine, metadata)
    finally:
        await engine.dispose()


async def _value(url: str, query: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(query)
    finally:
        await connection.close()


async def test_the_tables_are_taken_back_and_made_again(empty_url: str) -> None:
    await migrate.upgrade(empty_url, METADATA)

    await move(empty_url, command.downgrade, "base")
    left = await _value(empty_url, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'")
    await migrate.upgrade(empty_url, METADATA)

    assert left == 1  # Alembic's own
    assert await _difference(empty_url, METADATA) == []


async def test_a_brace_of_an_older_step_is_written_twice_and_its_placeholders_stay(empty_url: str) -> None:
    await migrate.upgrade(empty_url, METADATA)
    await move(empty_url, command.downgrade, "0014")
    await execute(
        empty_url,
        """
        INSERT INTO accounts (company_name, rate) VALUES ('Blue Door', 0.01);
        INSERT INTO sequences (account_id, name) SELECT id, 'Welcome' FROM accounts;
        INSERT INTO sequence_steps (account_id, sequence_id, position, delay_minutes, body)
        SELECT account_id, id, 1, 0, 'Hi {first_name} {last_name}, {company_name} { } {} {x}' FROM sequences
        """,
    )

    await move(empty_url, command.upgrade, "0015")

    body = await _value(empty_url, "SELECT body FROM sequence_steps")
    assert body == "Hi {first_name} {last_name}, {company_name} {{ }} {{}} {{x}}"
