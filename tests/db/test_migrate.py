"""Bringing a database to the newest schema."""

import asyncio
import re
from pathlib import Path

import asyncpg
import pytest
from alembic import command
from sqlalchemy import Column, Integer, MetaData, Table
from sqlalchemy.ext.asyncio import create_async_engine

from app.bootstrap import METADATA
from app.db import migrate
from tests.db.databases import execute, move


async def test_an_upgraded_empty_database_matches_the_models(newest_url: str) -> None:

    assert await _difference(newest_url, METADATA) == []


async def test_a_missing_migration_is_a_difference(empty_url: str) -> None:
    planned = MetaData()
    for table in METADATA.sorted_tables:
        table.to_metadata(planned)
    planned.tables["contacts"].append_column(Column("nickname", Integer))
    Table("plans", planned, Column("id", Integer, primary_key=True))
    await migrate.upgrade(empty_url, METADATA)

    found = await _difference(empty_url, planned)

    assert [change[0] for change in found] == ["add_table", "add_column"]


async def test_a_second_upgrade_changes_nothing(newest_url: str) -> None:
    await execute(newest_url, "INSERT INTO accounts (company_name, rate) VALUES ('Blue Door', 0.01)")

    await migrate.upgrade(newest_url, METADATA)

    assert await _value(newest_url, "SELECT company_name FROM accounts") == "Blue Door"
    assert await _value(newest_url, "SELECT count(*) FROM alembic_version") == 1


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


async def test_the_tables_are_taken_back_and_made_again(newest_url: str) -> None:

    await move(newest_url, command.downgrade, "base")
    left = await _value(newest_url, "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'")
    await migrate.upgrade(newest_url, METADATA)

    assert left == 1  # Alembic's own
    assert await _difference(newest_url, METADATA) == []


async def test_a_brace_of_an_older_step_is_written_twice_and_its_placeholders_stay(empty_url: str) -> None:
    await move(empty_url, command.upgrade, "0014")
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


async def test_the_oldest_number_at_a_carrier_becomes_primary_in_place_of_one_of_the_sandbox(empty_url: str) -> None:
    [path] = (Path(migrate.__file__).parent / "migrations" / "versions").glob("*_primary_numbers_reach_phones.py")
    revision, before = re.findall(r'^(?:down_)?revision = "(\d+)"', path.read_text(), re.M)
    await move(empty_url, command.upgrade, before)
    await execute(
        empty_url,
        """INSERT INTO accounts (id, company_name, rate) VALUES (1, 'A', 1), (2, 'B', 1), (3, 'C', 1);
        INSERT INTO carrier_connections (key, kind, name) VALUES ('main', 'smpp', 'Main'), ('test', 'sandbox', 'Test');
        INSERT INTO phone_numbers (id, account_id, phone_number, label, carrier, status, is_primary) VALUES
          (1, 1, '1', '', 'sandbox', 'active', true), (2, 1, '2', '', 'main', 'released', false),
          (3, 1, '3', '', 'main', 'active', false), (4, 1, '4', '', 'main', 'active', false),
          (5, 2, '5', '', 'sandbox', 'active', true), (6, 2, '6', '', 'test', 'active', false),
          (7, 3, '7', '', 'sandbox', 'active', false), (8, 3, '8', '', 'main', 'active', true),
          (9, 3, '9', '', 'main', 'active', false)""",
    )

    await move(empty_url, command.upgrade, revision)

    assert await _value(empty_url, "SELECT array_agg(id ORDER BY id) FROM phone_numbers WHERE is_primary") == [3, 5, 8]
