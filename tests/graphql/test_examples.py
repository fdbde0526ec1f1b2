"""Every GraphQL example of the documents, word for word."""

import re
from pathlib import Path

import httpx2
import pytest
from graphql import build_schema, parse, validate

from tests.graphql.calls import post

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```graphql *(\w*)\n(.*?)^```", re.M | re.S)
EXAMPLES = [
    pytest.param(mark, text, id=f"{page.name}-{number}")
    for page in sorted((ROOT / "docs").glob("*.md"))
    for number, (mark, text) in enumerate(BLOCK.findall(page.read_text()), 1)
]
CONTRACT = build_schema((ROOT / "schema.graphql").read_text())
REFERENCE = "reference"
"""Marks an example whose ids stand for the reader's own, so that it is not run."""


@pytest.mark.parametrize(("mark", "example"), EXAMPLES)
def test_every_example_fits_the_contract(mark: str, example: str) -> None:
    assert mark in ("", REFERENCE)
    assert validate(CONTRACT, parse(example)) == []


@pytest.mark.anyio
@pytest.mark.parametrize(
    "example", [pytest.param(each.values[1], id=each.id) for each in EXAMPLES if not each.values[0]]
)
async def test_every_example_runs(api: httpx2.AsyncClient, example: str) -> None:
    answer = (await post(api, {"query": example})).json()

    assert "errors" not in answer, answer
