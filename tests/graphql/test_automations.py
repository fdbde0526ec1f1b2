"""Watched keywords and automations over GraphQL."""

from typing import Any

import httpx2
import pytest

from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

WATCH = "mutation ($keyword: String!) { watch_keyword(keyword: $keyword) { id keyword creator { kind } created_at } }"
UNWATCH = "mutation ($id: BigInt!) { unwatch_keyword(id: $id) { id keyword } }"
LIST = "{ watched_keywords { id keyword creator { kind } created_at } }"


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def test_a_keyword_is_watched_listed_and_not_watched_any_more(api: httpx2.AsyncClient) -> None:
    made = (await ask(api, WATCH, keyword="Menu!"))["watch_keyword"]
    again = (await ask(api, WATCH, keyword="MENU"))["watch_keyword"]

    assert (made["keyword"], again) == ("menu", made)
    assert made["creator"] == {"kind": "key"}
    assert await ask(api, LIST) == {"watched_keywords": [made]}

    removed = await ask(api, UNWATCH, id=made["id"])
    assert removed == {"unwatch_keyword": {"id": made["id"], "keyword": "menu"}}
    assert await ask(api, LIST) == {"watched_keywords": []}
    assert codes(await post(api, {"query": UNWATCH, "variables": {"id": made["id"]}})) == ["not_found"]


@pytest.mark.parametrize("keyword", ["", "x" * 41, "two\nlines"])
async def test_an_invalid_keyword_is_refused(api: httpx2.AsyncClient, keyword: str) -> None:
    assert codes(await post(api, {"query": WATCH, "variables": {"keyword": keyword}})) == ["invalid_input"]
    assert await ask(api, LIST) == {"watched_keywords": []}


async def test_a_reserved_word_is_refused_in_a_sentence(api: httpx2.AsyncClient) -> None:
    answer = await post(api, {"query": WATCH, "variables": {"keyword": "Stop"}})

    assert codes(answer) == ["invalid_input"]
    assert answer.json()["errors"][0]["message"] == (
        "stop cannot be watched, because the service acts on it: it reads it as a wish to stop, to start again or to "
        "get help, or as a wrong number. Choose another word."
    )
    assert await ask(api, LIST) == {"watched_keywords": []}


CREATE = """mutation ($where: [EventCondition!], $action: AutomationActionInput!) {
  create_automation(automation: {
    name: "Welcome", trigger: {kind: event, event: "new_contact", where: $where}, actions: [$action]
  }) { summary }
}"""
CONDITION = {"field": "phone", "op": "starts_with", "value": "+1202"}
TAG = {"kind": "add_tag", "tag": "new"}


async def test_an_event_is_compared_by_the_operators_of_the_contract(api: httpx2.AsyncClient) -> None:
    made = await ask(api, CREATE, where=[CONDITION], action=TAG)
    unknown = await post(api, {"query": CREATE, "variables": {"where": [{**CONDITION, "op": "like"}], "action": TAG}})

    assert made["create_automation"]["summary"] == (
        "When the event new_contact and phone starts_with +1202: add the tag new."
    )
    assert codes(unknown) == ["invalid_graphql"]


@pytest.mark.parametrize(
    ("where", "action", "field"),
    [
        ([{**CONDITION, "value": "1" * 201}], TAG, "automation.trigger.where[0].value"),
        ([], {"kind": "add_tag", "tag": "x" * 65}, "automation.actions[0].tag"),
        ([], {"kind": "send", "body": "x" * 1601}, "automation.actions[0].body"),
        ([], {"kind": "notify", "text": "x" * 501}, "automation.actions[0].text"),
        ([], {"kind": "wait", "minutes": 525_601}, "automation.actions[0].minutes"),
    ],
)
async def test_a_value_of_an_automation_beyond_its_stated_limit_is_refused(
    api: httpx2.AsyncClient, where: list[dict[str, Any]], action: dict[str, Any], field: str
) -> None:
    (error,) = (await post(api, {"query": CREATE, "variables": {"where": where, "action": action}})).json()["errors"]

    assert error["extensions"]["field"] == field
