"""Webhooks as the dashboard shows and handles them."""

from typing import Any

import httpx2
from graphql import GraphQLObjectType
from sqlalchemy import Engine, event

from app.domain.accounts.scopes import ALL
from app.graphql.schema import CORE
from tests.domain.webhooks.harness import Harness
from tests.factories.accounts import API_KEYS
from tests.factories.webhooks import add_attempt, add_delivery
from tests.waiting import until

LIST = """
{
  webhook_deliveries {
    total_count nodes { event status is_test body attempts { number status address headers body } }
  }
}
"""
CREATE = """
mutation ($url: String!) {
  create_webhook(target_url: $url, events: ["message.sent", "contact.created"], description: " CRM ") {
    id kind events description status secret failing_since
  }
}
"""
UPDATE = 'mutation ($id: BigInt!) { update_webhook(id: $id, changes: {events: ["message.failed"]}) { events } }'
ROTATE = "mutation ($id: BigInt!) { rotate_webhook_secret(id: $id, overlap_hours: 0) { secret webhook { id } } }"
READ = "query ($id: BigInt!) { webhook(id: $id) { events } }"
REVEAL = "mutation ($id: BigInt!) { reveal_webhook_secret(id: $id) { secret webhook { id } } }"
AUDIT = "{ audit_log { nodes { action subject details } } }"


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await api.post("/graphql", json={"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def test_deliveries_are_shown_with_their_attempts_in_as_many_statements_for_one_as_for_many(
    harness: Harness, api: httpx2.AsyncClient
) -> None:
    await API_KEYS.change(harness.pool, scopes=sorted(ALL))
    await harness.subscribe()
    async with harness.at_work():
        await harness.tell("won")
        await until(lambda: harness.are_all("delivered"))
        few = await asked(api)
        await harness.tell(*["lost"] * 9)
        await until(lambda: are_delivered(harness, 10))
        many = await asked(api)

    shown = (await ask(api, LIST))["webhook_deliveries"]
    assert [sum("webhook_attempts" in statement for statement in each) for each in (few, many)] == [1, 1]
    assert shown["total_count"] == 10
    for node in shown["nodes"]:
        body = node.pop("body")
        assert body.startswith('{"contact_id":1,"first_name":"Ann"')
        assert node["attempts"][0].pop("headers")["content-type"] == "text/plain; charset=utf-8"
        assert node == {
            "event": "pipeline_stage_changed",
            "status": "delivered",
            "is_test": False,
            "attempts": [{"number": 1, "status": 200, "address": "127.0.0.1", "body": "ok"}],
        }


async def are_delivered(harness: Harness, count: int) -> bool:
    return [state for state, _ in await harness.states()] == ["delivered"] * count


async def asked(api: httpx2.AsyncClient) -> list[str]:
    """Return the statements that a list of deliveries needs."""
    statements: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    await ask(api, LIST)
    event.remove(Engine, "before_cursor_execute", note)
    return statements


async def test_a_webhook_is_made_changed_and_given_a_new_secret(harness: Harness, api: httpx2.AsyncClient) -> None:
    made = (await ask(api, CREATE, url=harness.receiver.url))["create_webhook"]
    id, secret = made.pop("id"), made.pop("secret")

    changed = await ask(api, UPDATE, id=id)
    rotated = (await ask(api, ROTATE, id=id))["rotate_webhook_secret"]

    assert made == {
        "kind": "endpoint",
        "events": ["message.sent", "contact.created"],
        "description": "CRM",
        "status": "active",
        "failing_since": None,
    }
    assert changed["update_webhook"]["events"] == ["message.failed"]
    assert rotated["webhook"] == {"id": id}
    assert rotated["secret"] != secret
    assert (await ask(api, READ, id=id))["webhook"] == {"events": ["message.failed"]}
    assert (await ask(api, REVEAL, id=id))["reveal_webhook_secret"] == rotated


async def test_the_audit_log_records_each_time_a_secret_is_shown_again_and_not_the_secret(
    harness: Harness, api: httpx2.AsyncClient
) -> None:
    await API_KEYS.change(harness.pool, scopes=sorted(ALL))
    id = (await ask(api, CREATE, url=harness.receiver.url))["create_webhook"]["id"]

    await ask(api, REVEAL, id=id)
    await ask(api, ROTATE, id=id)

    entries = (await ask(api, AUDIT))["audit_log"]["nodes"]
    assert entries[:2] == [
        {"action": action, "subject": f"{harness.receiver.url}/", "details": {"webhook_id": id}}
        for action in ("webhook_secret_rotated", "webhook_secret_revealed")
    ]


def test_only_the_results_of_creating_or_revealing_have_a_secret() -> None:
    kinds = [kind for kind in CORE.type_map.values() if isinstance(kind, GraphQLObjectType)]

    assert {kind.name for kind in kinds if "secret" in kind.fields} == {
        "NewInboundWebhook",
        "NewWebhook",
        "WebhookSecret",
    }


async def test_an_attempt_has_an_error_where_no_answer_came_and_none_where_one_did(
    harness: Harness, api: httpx2.AsyncClient
) -> None:
    await API_KEYS.change(harness.pool, scopes=sorted(ALL))
    id = await add_delivery(harness.pool, harness.account.account_id, (await harness.subscribe()).id)
    await add_attempt(harness.pool, id, status=None, error="dns")
    await add_attempt(harness.pool, id, number=2)

    shown = await ask(api, "{ webhook_deliveries { nodes { attempts { number status error } } } }")

    assert shown["webhook_deliveries"]["nodes"][0]["attempts"] == [
        {"number": 1, "status": None, "error": "dns"},
        {"number": 2, "status": 200, "error": None},
    ]
