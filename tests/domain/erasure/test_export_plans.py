"""An export finds the rows of an account by indexes only, so that it reads no rows of other accounts."""

import re

import pytest

from app.bootstrap import METADATA
from app.domain.erasure.tables import EXPORTED
from app.domain.kernel.account_tables import ExportedTable
from app.services import Services
from tests.factories.plans import NO_SORTS, plan


@pytest.mark.parametrize("table", EXPORTED, ids=[table.name for table in EXPORTED])
async def test_a_batch_is_read_by_an_index_that_begins_with_the_account_or_the_parent(
    kept: Services, table: ExportedTable
) -> None:
    statements = [table.select_of_parents()] if table.parent else [table.select(first=True), table.select(first=False)]

    for statement in statements:
        found = await plan(kept.database.pool, _with_values(table, statement))
        assert "Seq Scan" not in found
        assert f"({table.key or table.owner} = " in found


@pytest.mark.parametrize("table", [table for table in EXPORTED if table.order], ids=lambda table: table.name)
async def test_the_batches_of_a_large_area_are_not_sorted(kept: Services, table: ExportedTable) -> None:
    statement = _with_values(table, table.select(first=False))

    assert "Sort" not in await plan(kept.database.pool, statement, settings=[NO_SORTS])


def _with_values(table: ExportedTable, statement: str) -> str:
    """Return a statement with a value in each place, as a plan is asked for."""
    if table.parent:
        values = ["'{1,2}'", "9", "1", "1"]
    else:
        kinds = [METADATA.tables[table.name].c[name].type.compile() for name in table.order or ("id",)]
        values = ["1", "9", *("now()" if kind == "DATETIME" else "'1'" for kind in kinds)]
    return re.sub(r"\$(\d)", lambda place: values[int(place[1]) - 1], statement)
