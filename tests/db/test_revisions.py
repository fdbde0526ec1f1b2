"""Migrations that run beside a working service."""

import ast
import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest
from alembic import command
from alembic.script import ScriptDirectory

from app.bootstrap import METADATA
from app.db import migrate
from app.db.schema import FOLDER
from tests.db.databases import execute, move, moving

LATER = sorted((FOLDER / "versions").glob("*.py"))[1:]
INDEXED = re.compile(r"CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(?:IF NOT EXISTS )?\S+ ON (?:ONLY )?([\w.{}]+)", re.I)
"""The table of an index that is built in the transaction of the migration."""
CREATED = re.compile(r"(?:CREATE TABLE (?:IF NOT EXISTS )?|create_table\(\s*[\"'])(\w+)", re.I)
PLACEHOLDERS = {"0009": {"{table.name}"}, "0018": {"{definition}"}}
"""Tables that a migration has just created under a name that it computes."""
REVISIONS = [path.name.partition("_")[0] for path in LATER]
COMMITTING = [
    path for path in LATER if path.name >= "0069" and re.search(r"build_indexes\(|in_ranges\(", path.read_text())
]
PART = 16
"""Few migrations: each takes two moves of the schema, and a test has a limit of time."""

DELIVERIES = """
INSERT INTO accounts (id, company_name, rate) VALUES (1, 'Blue Door', 0.01);
INSERT INTO webhook_subscriptions (id, account_id, kind, target_url, events, secret)
VALUES (1, 1, 'hook', 'https://example.com', '{won}', '');
INSERT INTO webhook_deliveries (id, account_id, subscription_id, event, webhook_id, status, attempts)
SELECT id, 1, 1, 'won', id::text, status, attempts FROM (VALUES (1, 'delivered', 1), (2, 'failed', 2),
  (3, 'pending', 0), (4, 'failed', 1), (5, 'failed', 1), (6, 'pending', 1)) AS n(id, status, attempts);
INSERT INTO webhook_attempts (delivery_id, number, status, error, address, seconds, headers, body)
SELECT delivery_id, 1, status, '', '', 0, '{}', '' FROM (VALUES
  (1, 200), (2, 500), (2, 503), (4, NULL), (6, 500)) AS n(delivery_id, status);
CREATE FUNCTION refuse_locked() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND mode = 'AccessExclusiveLock'
    AND relation = 'webhook_deliveries'::regclass) THEN RAISE 'the table is locked'; END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER refuse_locked AFTER UPDATE ON webhook_deliveries EXECUTE FUNCTION refuse_locked();
"""
"""Deliveries with their attempts, whose table must not be locked against reads while they are changed."""

PARTS = """
INSERT INTO accounts (id, company_name, rate) VALUES (1, 'Blue Door', 0.01);
INSERT INTO contacts (id, account_id, phone) VALUES (1, 1, '+12025550143');
INSERT INTO conversations (id, account_id, contact_id, last_message_at) VALUES (1, 1, 1, 'epoch');
INSERT INTO messages (id, account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
  purpose, segments, encoding, carrier, actor)
VALUES (7, 1, 1, 1, 'outbound', '+15002000001', '+12025550143', 'Hi', 'sent', 'transactional', 2, 'gsm7', 'main', '');
INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id, part, parts) VALUES
  ('main', 'there-1', 'outbound', 7, 1, 2), ('main', 'there-2', 'outbound', 7, 2, 2),
  ('main', 'gone-2', 'outbound', 6, 2, 2), ('main', 'whole', 'outbound', 5, 1, 1);
"""
"""The ids of the parts of a message, and those of one that is gone."""

AGED = """
INSERT INTO accounts (id, company_name, rate) VALUES (1, 'Blue Door', 0.01);
INSERT INTO contacts (id, account_id, phone) VALUES (1, 1, '+12025550143');
INSERT INTO conversations (id, account_id, contact_id, last_message_at) VALUES (1, 1, 1, 'epoch');
INSERT INTO messages (id, account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
  purpose, segments, encoding, carrier, actor, created_at)
SELECT id, 1, 1, 1, 'outbound', '+15002000001', '+12025550143', 'Hi', 'sent', 'transactional', 1, 'gsm7', 'main', '',
  now() - hours * interval '1 hour'
FROM (VALUES {rows}) AS n(id, hours);
"""
"""Messages that are some hours old."""


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
    there = dict[str, dict[str, str]]()
    async with moving(newest_url) as go, reading(newest_url) as read:
        await go(command.downgrade, part[0].revision)
        for script in part:
            there[script.revision] = await read()
            await go(command.downgrade, str(script.down_revision))
        for script in reversed(part):
            await go(command.upgrade, script.revision)

            assert await read() == there[script.revision], script.revision


async def test_keys_whose_job_is_gone_do_not_keep_the_newer_schema(newest_url: str) -> None:
    await execute(newest_url, "INSERT INTO job_keys (job_id, key, row) VALUES (7, 1, 2)")

    await move(newest_url, command.downgrade, "0083")


@pytest.mark.parametrize("path", COMMITTING, ids=[path.name[:4] for path in COMMITTING])
async def test_a_migration_that_commits_halfway_is_run_again_after_it_was_killed(newest_url: str, path: Path) -> None:
    revision = path.name[:4]
    await move(newest_url, command.downgrade, revision)
    there = await indexes(newest_url)

    await execute(newest_url, f"UPDATE alembic_version SET version_num = '{int(revision) - 1:04}'")
    await move(newest_url, command.upgrade, revision)

    assert await indexes(newest_url) == there


async def test_the_answers_of_webhooks_are_copied_without_a_lock_on_the_table_and_never_twice(
    empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.db.revisions.RANGE", 2)
    await move(empty_url, command.upgrade, "0070")
    await execute(empty_url, DELIVERIES)

    await move(empty_url, command.upgrade, "0071")
    copied = await answers(empty_url)
    await execute(empty_url, "UPDATE webhook_deliveries SET answer_status = 404 WHERE id = 2")
    await execute(empty_url, "UPDATE alembic_version SET version_num = '0070'")
    await move(empty_url, command.upgrade, "0071")

    assert copied == [None, 503, None, None, None, 500]
    assert await answers(empty_url) == [None, 404, None, None, None, 500]


async def answers(url: str) -> list[int | None]:
    """Return the answers of all deliveries."""
    connection = await asyncpg.connect(url)
    rows = await connection.fetch("SELECT answer_status FROM webhook_deliveries ORDER BY id")
    await connection.close()
    return [row["answer_status"] for row in rows]


async def test_the_ids_of_parts_that_are_left_of_messages_are_deleted(empty_url: str) -> None:
    await move(empty_url, command.upgrade, "0085")
    await execute(empty_url, PARTS)

    await move(empty_url, command.upgrade, "0086")

    connection = await asyncpg.connect(empty_url)
    rows = await connection.fetch("SELECT provider_message_id FROM carrier_ids ORDER BY 1")
    await connection.close()
    assert [row["provider_message_id"] for row in rows] == ["there-1", "there-2", "whole"]


@pytest.mark.parametrize(
    ("rows", "last_id"),
    [("(3, 90), (8, 73), (9, 71), (20, 1)", 8), ("(3, 90)", 3), ("(9, 1)", 0)],
)
async def test_late_reports_are_sought_from_the_messages_of_the_last_three_days(
    empty_url: str, rows: str, last_id: int
) -> None:
    await move(empty_url, command.upgrade, "0091")
    await execute(empty_url, AGED.format(rows=rows))

    await move(empty_url, command.upgrade, "0092")

    reader = await asyncpg.connect(empty_url)
    found = await reader.fetch("SELECT last_id FROM message_marks")
    await reader.close()
    assert [row["last_id"] for row in found] == [last_id]


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
    async with reading(url) as read:
        return await read()


@asynccontextmanager
async def reading(url: str) -> AsyncGenerator[Callable[[], Awaitable[dict[str, str]]]]:
    """Provide a function that returns the definitions of all indexes by name."""
    connection = await asyncpg.connect(url)

    async def read() -> dict[str, str]:
        rows = await connection.fetch("SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'")
        return {row["indexname"]: row["indexdef"] for row in rows}

    yield read
    await connection.close()
