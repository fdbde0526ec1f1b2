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


CREATE = """mutation ($where: [EventConditionInput!], $action: AutomationActionInput!) {
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


SHOWN = """trigger { kind event where { field op value } hours field at weekdays }
  actions { kind body tag stage user_id sequence_id text minutes }"""
CREATE_ANY = f"""mutation ($trigger: AutomationTriggerInput!, $actions: [AutomationActionInput!]!) {{
  create_automation(automation: {{name: "Test", trigger: $trigger, actions: $actions}}) {{ {SHOWN} }}
}}"""
NO_TRIGGER = dict.fromkeys(("event", "where", "hours", "field", "at", "weekdays"))
NO_ACTION = dict.fromkeys(("body", "tag", "stage", "user_id", "sequence_id", "text", "minutes"))


@pytest.mark.parametrize(
    "trigger",
    [
        {"kind": "event", "event": "new_contact", "where": [CONDITION]},
        {"kind": "missed_reply", "hours": 4},
        {"kind": "schedule", "at": "09:05", "weekdays": ["monday", "sunday"]},
    ],
)
async def test_a_trigger_and_actions_are_shown_as_create_takes_them(
    api: httpx2.AsyncClient, trigger: dict[str, Any]
) -> None:
    actions = [TAG, {"kind": "set_stage", "stage": "won"}, {"kind": "wait", "minutes": 5}]

    made = (await ask(api, CREATE_ANY, trigger=trigger, actions=actions))["create_automation"]

    assert made["trigger"] == NO_TRIGGER | trigger
    assert made["actions"] == [NO_ACTION | action for action in actions]


async def test_each_common_automation_is_shown_as_create_takes_it(api: httpx2.AsyncClient) -> None:
    await ask(api, 'mutation { create_custom_field(key: "birthday", label: "Birthday", type: date) { key } }')
    templates = (await ask(api, f"{{ automation_templates {{ key {SHOWN} }} }}"))["automation_templates"]

    made = [await ask(api, CREATE_ANY, trigger=each["trigger"], actions=each["actions"]) for each in templates]

    assert [each["create_automation"]["trigger"] for each in made] == [each["trigger"] for each in templates]
