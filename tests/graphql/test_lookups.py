"""Root fields that look up one record: null beside the error, and the rest of the query answered."""

import httpx2
import pytest
from graphql import GraphQLObjectType, get_nullable_type, is_non_null_type

from app.graphql.schema import CORE
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

LOOKUPS = ["campaign", "contact", "conversation", "job", "message", "sequence", "template", "webhook"]


@pytest.mark.parametrize("field", LOOKUPS)
async def test_a_record_that_is_not_there_is_null_and_the_rest_is_answered(api: httpx2.AsyncClient, field: str):
    answer = await post(api, {"query": f"{{ {field}(id: 404) {{ id }} contacts {{ total_count }} }}"})

    assert answer.json()["data"] == {field: None, "contacts": {"total_count": 0}}
    assert codes(answer) == ["not_found"]
    assert answer.json()["errors"][0]["path"] == [field]


def test_every_root_field_that_looks_up_one_record_by_id_is_nullable():
    assert CORE.query_type
    records = {
        name: field
        for name, field in CORE.query_type.fields.items()
        if "id" in field.args and isinstance(kind := get_nullable_type(field.type), GraphQLObjectType)
        if "id" in kind.fields
    }

    assert sorted(records) == LOOKUPS
    assert [name for name, field in records.items() if is_non_null_type(field.type)] == []


def test_every_mutation_answers_with_an_object():
    assert CORE.mutation_type
    kinds = {name: get_nullable_type(field.type) for name, field in CORE.mutation_type.fields.items()}

    assert [name for name, kind in kinds.items() if not isinstance(kind, GraphQLObjectType)] == []
