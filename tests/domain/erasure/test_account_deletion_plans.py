"""A deletion finds the rows of an account by indexes only, so that it reads no rows of other accounts."""

import pytest

from app.bootstrap import METADATA
from app.domain.erasure.tables import DELETED
from app.domain.kernel.account_tables import PHYSICAL, DeletedTable
from app.services import Services
from tests.factories.plans import plan

NAMES = [f"{table.name} {table.which}" for table in DELETED]


@pytest.mark.parametrize("table", DELETED, ids=NAMES)
async def test_a_batch_is_found_by_an_index_that_begins_with_the_account_or_the_parent(
    kept: Services, table: DeletedTable
) -> None:
    for first in (True, False) if table.order else (True,):
        found = await plan(kept.database.pool, _with_values(table, table.select(1000, first=first)))
        assert "Seq Scan" not in found
        assert f"({table.key} = " in found if table.parent else "(account_id = " in found
    assert "Seq Scan" not in await plan(kept.database.pool, _with_values(table, table.exists()))


def _with_values(table: DeletedTable, statement: str) -> str:
    """Return a statement with a value in each place, as a plan is asked for."""
    columns = [*table.order, *table.order] if table.parent else list(table.order)
    for number, column in enumerate(columns, 2):
        kind = METADATA.tables[table.name].c[column].type.compile()
        value = {"DATE": "current_date", "DATETIME": "now()"}.get(kind, "'1'")
        statement = statement.replace(f"${number}", value)
    return statement.replace("$1", "1")


def test_no_foreign_key_makes_a_deletion_read_a_whole_table() -> None:
    deleted = {table.name for table in DELETED}
    unindexed = [
        f"{table.name}.{key.parent.name}"
        for table, key in ((table, key) for table in METADATA.sorted_tables for key in table.foreign_keys)
        if key.column.table.name in deleted and not _leads(table.name, key.parent.name)
    ]

    assert unindexed == []


def _leads(table: str, column: str) -> bool:
    """Return whether an index or a key of a table begins with a column."""
    known = METADATA.tables[table]
    lists = [list(index.columns) for index in known.indexes]
    lists += [list(each.columns) for each in known.constraints if hasattr(each, "columns") and _is_unique(each)]
    return any(columns and columns[0].name == column for columns in lists)


def _is_unique(constraint: object) -> bool:
    return type(constraint).__name__ in {"PrimaryKeyConstraint", "UniqueConstraint"}


def test_a_row_is_identified_by_its_id_or_by_its_place_in_a_table_without_ids() -> None:
    without_ids = {table.name for table in METADATA.sorted_tables if "id" not in table.c}

    assert {table.name for table in DELETED if table.row == PHYSICAL} == without_ids & {table.name for table in DELETED}
