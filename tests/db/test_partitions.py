"""Partitions that are made ahead of need, and dropped when nothing in them is kept."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta

import pytest
from alembic import command

from app.db import partitions
from app.db.engine import UNREACHABLE, Database, connect
from app.db.partitions import Partitions
from app.domain.events.retention import HISTORY as EVENT_HISTORY
from app.domain.events.retention import make_history_rules
from app.domain.kernel.retention import HistoryRetention
from app.domain.messages.retention import HISTORY
from tests.conftest import copy_database
from tests.db.databases import execute, move, named
from tests.factories import histories
from tests.factories.events import EVENTS, OUTBOX, record
from tests.factories.histories import continue_after
from tests.factories.messages import MESSAGES
from tests.factories.planting import plant
from tests.factories.tables import Rows, ahead
from tests.factories.traps import table_locked

MILLION = 1_000_000
FIRST = ["from_0", "from_10000000", "from_20000000"]


@pytest.fixture
async def database(database_url: str, worker_number: int, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Database]:
    """Provide a database with every table, and with an account; its statements may be slow."""
    monkeypatch.setattr(partitions, "BEGIN", partitions.BEGIN.replace("'2s'", "'30s'"))
    name = f"parted_{worker_number}"
    database = await connect(await copy_database(name), 4)
    await Rows("accounts").insert(database, company_name="Blue Door", rate=1)
    yield database
    await database.close()
    await execute(named(database_url, "postgres"), f"DROP DATABASE {name} WITH (FORCE)")


async def ranges(database: Database, table: str) -> list[str]:
    return [name.removeprefix(f"{table}_") for name in await histories.partitions(database, table)]


async def account_of(database: Database) -> int:
    return await Rows("accounts").only(database, "id")


async def test_a_new_database_has_partitions_for_the_next_20_million_rows(database: Database) -> None:
    left = [await Partitions(database.pool, each).count_left() for each in histories.HISTORIES]

    assert [await ranges(database, table) for table in ("messages", "receipts", "events")] == [FIRST] * 3
    assert left == [30 * MILLION - 1] * 2


async def test_partitions_are_made_while_fewer_ids_than_wanted_are_left(database: Database) -> None:
    await continue_after(database, 15 * MILLION)

    left = await Partitions(database.pool, HISTORY).make()

    assert [await ranges(database, table) for table in HISTORY.tables] == [[*FIRST, "from_30000000"]] * 2
    assert (left, await ranges(database, "events")) == (25 * MILLION, FIRST)


async def test_after_a_long_time_without_upkeep_all_partitions_are_made_at_once(database: Database) -> None:
    await continue_after(database, 30 * MILLION - 1)

    for history in histories.HISTORIES:
        await Partitions(database.pool, history).make()
    await continue_after(database, 49 * MILLION)
    planted = await plant(database, await account_of(database), "Wombat")

    assert await ranges(database, "messages") == [*FIRST, "from_30000000", "from_40000000"]
    assert await histories.places(database, "messages") == [("messages_from_40000000", planted["messages"])]


async def test_processes_that_make_partitions_at_once_make_each_once(database: Database) -> None:
    await continue_after(database, 29 * MILLION)

    await asyncio.gather(*(Partitions(database.pool, HISTORY).make() for _ in range(4)))
    await Partitions(database.pool, HISTORY).make()

    assert await ranges(database, "messages") == [*FIRST, "from_30000000", "from_40000000"]


async def test_a_table_that_cannot_be_locked_is_left_for_later_and_its_users_do_not_wait(database: Database) -> None:
    await continue_after(database, 15 * MILLION)
    upkeep = Partitions(database.pool, HISTORY)

    async with table_locked(database.pool, "contacts", "ROW EXCLUSIVE"):
        left = await upkeep.make()
        there = await ranges(database, "messages")

    assert (left, there) == (15 * MILLION, FIRST)
    assert await upkeep.make() == 25 * MILLION


async def test_a_making_that_is_broken_off_leaves_nothing_and_is_made_again(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await continue_after(database, 15 * MILLION)
    with monkeypatch.context() as patch:
        patch.setattr(partitions, "MAKE", f"{partitions.MAKE} SELECT pg_terminate_backend(pg_backend_pid())")
        with pytest.raises(UNREACHABLE):
            await Partitions(database.pool, HISTORY).make()
    left = await histories.tables(database, "receipts_from_3"), await histories.tables(database, "messages_from_3")

    await Partitions(database.pool, HISTORY).make()

    assert left == ([], [])
    assert await ranges(database, "messages") == [*FIRST, "from_30000000"]


async def test_a_range_is_dropped_in_all_tables_when_its_ids_were_used_long_ago_and_nothing_is_kept(
    database: Database,
) -> None:
    upkeep = Partitions(database.pool, HISTORY)
    await plant(database, await account_of(database), "Wombat")
    await continue_after(database, 20 * MILLION - 1)
    nothing_used = await upkeep.find_used()
    await continue_after(database, 20 * MILLION)
    [used] = await upkeep.find_used()
    is_filled = "SELECT EXISTS (SELECT FROM messages WHERE id >= $1 AND id < $2)", ()

    kept = await upkeep.drop(used, [is_filled])
    await MESSAGES.delete(database)
    dropped = await upkeep.drop(used, [is_filled])

    assert (list(nothing_used), used.name) == ([], "messages_from_0")
    assert (kept, dropped) == (False, True)
    assert [await ranges(database, table) for table in HISTORY.tables] == [FIRST[1:]] * 2
    assert await histories.tables(database, "messages_from_0") == []


async def test_a_range_that_is_in_use_is_not_dropped(database: Database) -> None:
    upkeep = Partitions(database.pool, HISTORY)
    await continue_after(database, 20 * MILLION)
    [used] = await upkeep.find_used()

    async with table_locked(database.pool, "messages", "ACCESS SHARE"):
        dropped = await upkeep.drop(used, [])

    assert (dropped, await ranges(database, "messages")) == (False, FIRST)


@pytest.mark.parametrize(
    ("days", "needs_one", "kept"), [(92, False, FIRST[1:]), (92, True, FIRST), (90.5, False, FIRST)]
)
async def test_a_range_of_events_is_dropped_with_its_rows_when_all_are_over_for_a_day_and_none_is_needed(
    database: Database, days: float, needs_one: bool, kept: list[str]
) -> None:
    account_id = await account_of(database)
    _, last = [await record(database, account_id, "contact_changed", 1) for _ in range(2)]
    await OUTBOX.where_not(event_id=last if needs_one else 0).delete(database)
    await continue_after(database, 20 * MILLION)
    upkeep = [Partitions(database.pool, EVENT_HISTORY)]
    running = HistoryRetention(upkeep, make_history_rules(timedelta(days=90)), database.pool)

    await running.run(ahead(days=days))

    assert await EVENTS.read(database, "id") == [last] * needs_one
    assert await ranges(database, "events") == kept


async def test_a_migration_keeps_every_row_and_the_ids_go_on(empty_url: str) -> None:
    await move(empty_url, command.upgrade, "0008")
    database = await connect(empty_url, 2)
    await Rows("accounts").insert(database, company_name="Blue Door", rate=1)
    account_id = await account_of(database)
    await continue_after(database, 12 * MILLION)
    planted = [await plant(database, account_id, "Wombat")]
    before = [await Rows(table).texts(database) for table in ("messages", "receipts", "events")]

    await move(empty_url, command.upgrade, "0009")
    divided = [await Rows(table).texts(database) for table in ("messages", "receipts", "events")]
    names = await ranges(database, "messages")
    planted.append(await plant(database, account_id, "Wombat"))
    await move(empty_url, command.downgrade, "0008")
    planted.append(await plant(database, account_id, "Wombat"))
    ids = await MESSAGES.read(database, "id")
    waiting = await Rows("outbox").read(database, "event_id")
    await database.close()

    assert divided == before
    assert names == ["from_0", "from_20000000", "from_30000000"]
    assert ids == [each["messages"] for each in planted] == [12 * MILLION + number for number in (1, 2, 3)]
    assert waiting == [each["events"] for each in planted]
