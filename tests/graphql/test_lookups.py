"""Root fields that look up one record: null beside the error, and the rest of the query answered."""

import httpx2
import pytest
from graphql import GraphQLObjectType, get_directive_values, get_nullable_type, is_non_null_type

from app.domain.carriers.carrier import InboundMessage
from app.domain.onboarding.service import Opened
from app.graphql.schema import CORE, contract
from app.services import Services
from tests.factories.conversations import CONVERSATIONS
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

LOOKUPS = [
    "ai_agent",
    "automation",
    "booking",
    "campaign",
    "contact",
    "conversation",
    "integration",
    "job",
    "message",
    "segment",
    "sequence",
    "template",
    "webhook",
]


@pytest.mark.parametrize("field", LOOKUPS)
async def test_a_record_that_is_not_there_is_null_and_the_rest_is_answered(api: httpx2.AsyncClient, field: str):
    answer = await post(api, {"query": f"{{ {field}(id: 404) {{ id }} contacts {{ total_count }} }}"})

    assert answer.json()["data"] == {field: None, "contacts": {"total_count": 0}}
    assert codes(answer) == ["not_found"]
    assert answer.json()["errors"][0]["path"] == [field]


@pytest.mark.parametrize("place", ["conversation_id", "contact_id"])
async def test_the_messages_of_a_conversation_or_contact_that_is_not_there_are_null(
    api: httpx2.AsyncClient, place: str
):
    answer = await post(api, {"query": f"{{ messages({place}: 404) {{ total_count }} contacts {{ total_count }} }}"})

    assert answer.json()["data"] == {"messages": None, "contacts": {"total_count": 0}}
    assert codes(answer) == ["not_found"]


async def test_a_conversation_without_messages_of_a_filter_has_an_empty_list(
    api: httpx2.AsyncClient, services: Services, account: Opened
):
    await services.inbox.receive("sandbox", InboundMessage("in-1", "+12025550143", account.phone_number, "Hi"))
    ids = await CONVERSATIONS.only(services, "id", "contact_id")

    for place, id in zip(("conversation_id", "contact_id"), ids, strict=True):
        answer = await post(api, {"query": f"{{ messages({place}: {id}, status: failed) {{ total_count }} }}"})
        assert answer.json() == {"data": {"messages": {"total_count": 0}}}


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


def test_a_root_field_that_may_find_nothing_is_nullable():
    refuses, queries = contract().get_directive("refuses"), contract().query_type
    assert refuses
    assert queries

    found = [
        name
        for name, field in queries.fields.items()
        if field.ast_node and "not_found" in (get_directive_values(refuses, field.ast_node) or {}).get("codes", [])
    ]

    assert {"campaign", "enrollments", "delivery_rates"} <= set(found)
    assert [name for name in found if is_non_null_type(queries.fields[name].type)] == ["viewer", "connection_test"]


def test_every_mutation_answers_with_an_object():
    assert CORE.mutation_type
    kinds = {name: get_nullable_type(field.type) for name, field in CORE.mutation_type.fields.items()}

    assert [name for name, kind in kinds.items() if not isinstance(kind, GraphQLObjectType)] == []
