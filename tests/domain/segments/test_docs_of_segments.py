"""docs/segments.md lists every field and every operator."""

import re
from pathlib import Path

from app.domain.campaigns.segment_fields import REPLIED_TO
from app.domain.segments.fields import BUILT_IN, OPERATORS, Operator
from app.domain.sequences.segment_fields import ENROLLED_IN

FIELDS = (*BUILT_IN, REPLIED_TO, ENROLLED_IN)
PAGE = (Path(__file__).parents[3] / "docs" / "segments.md").read_text()


def first_cells(heads: str) -> list[str]:
    """Return the code in the first cell of each row of a table."""
    rows = PAGE.partition(f"| {heads} |\n")[2].partition("\n\n")[0].splitlines()[1:]
    return [code for row in rows for code in re.findall(r"`([^`]*)`", row.split("|")[1])]


def test_the_page_lists_every_field() -> None:
    assert sorted(first_cells("Field | Kind | Value")) == sorted([*(field.name for field in FIELDS), "custom."])


def test_the_page_lists_every_operator() -> None:
    assert sorted(first_cells("Operator | Kinds | True when the value of the contact")) == sorted(Operator)
    assert {each for kind in OPERATORS.values() for each in kind} == {*Operator}
