"""How the rows of an account are found for its export: by indexes alone, so that it reads none of other accounts."""

import re

import pytest

from app.bootstrap import METADATA
from app.domain.erasure.export import AREAS, Area
from app.services import Services
from tests.factories.plans import plan


@pytest.mark.parametrize("area", AREAS, ids=[area.table for area in AREAS])
async def test_a_batch_is_read_by_an_index_that_begins_with_the_account_or_the_parent(
    kept: Services, area: Area
) -> None:
    statements = [area.select_of_parents()] if area.parent else [area.select(first=True), area.select(first=False)]

    for statement in statements:
        found = await plan(kept.database.pool, _with_values(area, statement))
        assert "Seq Scan" not in found
        assert f"({area.key or area.owner} = " in found


@pytest.mark.parametrize("area", [area for area in AREAS if area.order], ids=lambda area: area.table)
async def test_the_batches_of_a_large_area_are_not_sorted(kept: Services, area: Area) -> None:
    assert "Sort" not in await plan(kept.database.pool, _with_values(area, area.select(first=False)))


def _with_values(area: Area, statement: str) -> str:
    """Return a statement with a value in each place, as a plan is asked for."""
    if area.parent:
        values = ["'{1,2}'", "9", "1", "1"]
    else:
        kinds = [METADATA.tables[area.table].c[name].type.compile() for name in area.order or ("id",)]
        values = ["1", "9", *("now()" if kind == "DATETIME" else "'1'" for kind in kinds)]
    return re.sub(r"\$(\d)", lambda place: values[int(place[1]) - 1], statement)
