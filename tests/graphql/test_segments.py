"""Segments through the contract."""

from typing import Any

import httpx2
import pytest

from app.services import Services
from tests.factories.accounts import API_KEYS
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

FILTER = {
    "all": [{"field": "tags", "op": "has_any", "value": ["vip"]}, {"field": "score", "op": "gte", "value": ["5"]}]
}
CREATE = """mutation ($filter: SegmentFilter!) {
  create_segment(name: "Best", filter: $filter) { id summary filter }
}"""
PREVIEW = """query ($filter: SegmentFilter, $id: BigInt) {
  preview_segment(id: $id, filter: $filter) { total_count sendable_count is_exact samples { phone } }
}"""
CHANGE = """mutation ($id: BigInt!) {
  update_segment(id: $id, changes: {filter: {field: "phone", op: starts_with, value: "+1202"}}) { name filter }
}"""


async def add(api: httpx2.AsyncClient, phone: str, **fields: Any) -> None:
    text = "mutation ($contact: NewContact!) { create_contact(contact: $contact) { id } }"
    assert (
        "errors" not in (await post(api, {"query": text, "variables": {"contact": {"phone": phone, **fields}}})).json()
    )


async def test_a_segment_is_created_shown_previewed_changed_and_deleted(api: httpx2.AsyncClient) -> None:
    await add(api, "+12025550101", tags=["vip"])
    await add(api, "+12025550102", tags=["vip"], dnd_sms=True)
    await add(api, "+12025550103")

    created = (await post(api, {"query": CREATE, "variables": {"filter": FILTER}})).json()["data"]["create_segment"]
    assert created["filter"] == FILTER
    assert created["summary"] == "tags has any of vip and score is at least 5"

    for given in ({"id": created["id"]}, {"filter": FILTER}):
        previewed = (await post(api, {"query": PREVIEW, "variables": given})).json()["data"]["preview_segment"]
        assert (previewed["total_count"], previewed["sendable_count"], previewed["is_exact"]) == (2, 1, True)
        assert [each["phone"] for each in previewed["samples"]] == ["+12025550102", "+12025550101"]

    changed = (await post(api, {"query": CHANGE, "variables": {"id": created["id"]}})).json()["data"]["update_segment"]
    assert changed == {"name": "Best", "filter": {"field": "phone", "op": "starts_with", "value": ["+1202"]}}

    delete = "mutation ($id: BigInt!) { delete_segment(id: $id) { id } }"
    assert (await post(api, {"query": delete, "variables": {"id": created["id"]}})).json()["data"]["delete_segment"]
    listed = (await post(api, {"query": "{ segments { total_count } }"})).json()
    assert listed["data"]["segments"]["total_count"] == 0


async def test_a_wrong_filter_is_refused_with_its_place_in_the_argument(api: httpx2.AsyncClient) -> None:
    create = 'mutation { create_segment(name: "Best", filter: {all: [{field: "scor", op: eq, value: "1"}]}) { id } }'
    change = 'mutation { update_segment(id: 1, changes: {filter: {field: "score", op: eq, value: "x"}}) { id } }'

    answers = [await post(api, {"query": text}) for text in (create, change)]

    assert [codes(answer) for answer in answers] == [["invalid_input"], ["invalid_input"]]
    fields = [answer.json()["errors"][0]["extensions"]["field"] for answer in answers]
    assert fields == ["filter.all[0].field", "changes.filter.value"]


async def test_a_filter_is_previewed_with_the_scope_for_contacts_because_its_count_tells_about_them(
    api: httpx2.AsyncClient, services: Services
) -> None:
    await add(api, "+12025550101", email="ana@example.com")
    await API_KEYS.change(services, scopes=["campaigns:read"])
    filter = {"field": "email", "op": "starts_with", "value": ["a"]}
    text = "query ($filter: SegmentFilter!) { preview_segment(filter: $filter) { total_count } }"

    answer = await post(api, {"query": text, "variables": {"filter": filter}})

    assert (answer.json()["data"], codes(answer)) == ({"preview_segment": None}, ["insufficient_scope"])


@pytest.mark.parametrize("given", [{}, {"id": 1, "filter": FILTER}])
async def test_a_preview_is_of_a_segment_or_of_a_filter(api: httpx2.AsyncClient, given: dict[str, Any]) -> None:
    refused = await post(api, {"query": PREVIEW, "variables": given})

    assert codes(refused) == ["invalid_input"]
    assert refused.json()["errors"][0]["message"] == "Give either the id of a segment or a filter."


async def test_the_fields_of_filters_have_their_operators_and_choices(api: httpx2.AsyncClient) -> None:
    declare = 'mutation { create_custom_field(key: "size", type: choice, choices: ["S", "L"], label: "Size") { id } }'
    await post(api, {"query": declare})

    listed = await post(api, {"query": "{ segment_fields { name kind operators choices description } }"})

    fields = {each.pop("name"): each for each in listed.json()["data"]["segment_fields"]}
    assert fields["status"]["choices"] == ["active", "opted_out"]
    assert fields["custom.size"] == {
        "kind": "choice",
        "operators": ["eq", "ne", "in", "not_in", "is_set", "is_empty"],
        "choices": ["S", "L"],
        "description": "Size",
    }
