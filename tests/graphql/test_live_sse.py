"""Server-sent events: one operation to a connection, and resuming as `EventSource` does."""

import asyncio
from typing import Any

import orjson
import pytest

from app.domain.accounts.scopes import Scope
from app.jobs import live
from tests.graphql.live import ALL, KINDS, Events, Scene, Served, looking
from tests.waiting import until

pytestmark = pytest.mark.anyio


JSON = "application/json; charset=utf-8"


async def errors(events: Events) -> list[Any]:
    event = await events.next()
    assert event
    return orjson.loads(event["data"])["errors"]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_updates_come_as_events_with_ids(served: Served, scene: Scene, method: str):
    async with looking(served.address, scene.account.svc_key, ALL, method, kinds=["new_message"]) as events:
        await scene.receive("Hello")

        event = await events.next()

    assert event
    update = orjson.loads(event["data"])["data"]["updates"]
    assert update["message"]["body"] == "Hello"
    assert (event["event"], event["id"]) == ("next", str(update["id"]))
    assert events.response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert events.response.headers["cache-control"] == "no-store"
    assert events.response.headers["x-accel-buffering"] == "no"


async def test_a_reconnected_client_resumes_after_its_last_event(served: Served, scene: Scene):
    async with looking(served.address, scene.account.svc_key, KINDS) as events:
        await scene.receive("One")
        first = await events.update()
    await scene.receive("Two")

    headers = {"Last-Event-ID": str(first["id"])}
    async with looking(served.address, scene.account.svc_key, KINDS, after=0, headers=headers) as events:
        shown = [await events.update(), await events.update()]

    assert [each["kind"] for each in shown] == ["new_message", "new_message"]
    assert first["id"] < shown[0]["id"] < shown[1]["id"]


async def test_a_query_is_one_event_and_the_end(served: Served, scene: Scene):
    async with looking(served.address, scene.account.svc_key, "{ balance { balance } }") as events:
        answer = [await events.next(), await events.next(), await events.next()]

    assert answer == [
        {"event": "next", "data": '{"data":{"balance":{"balance":1000}}}'},
        {"event": "complete", "data": ""},
        None,
    ]


async def refusal(events: Events) -> tuple[int, str, str]:
    """Return status, code and media type of an answer that is no stream."""
    [error] = orjson.loads(await events.response.aread())["errors"]
    return events.response.status_code, error["extensions"]["code"], events.response.headers["content-type"]


async def test_a_document_that_cannot_be_run_is_answered_400_in_json(served: Served, scene: Scene):
    async with looking(served.address, scene.account.svc_key, "subscription { nothing }") as events:
        assert await refusal(events) == (400, "invalid_graphql", JSON)


async def test_a_scope_that_is_missing_is_answered_403_in_json(served: Served, scene: Scene):
    _, key = await scene.key(Scope.contacts_read)
    async with looking(served.address, key, KINDS) as events:
        assert await refusal(events) == (403, "insufficient_scope", JSON)

    assert events.response.headers["www-authenticate"].startswith('Bearer error="insufficient_scope"')


@pytest.mark.parametrize("query", [KINDS, "{ balance { balance } }"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_without_a_key_no_stream_begins(served: Served, scene: Scene, query: str, method: str):
    async with looking(served.address, None, query, method) as events:
        assert await refusal(events) == (401, "unauthenticated", JSON)

    assert events.response.headers["www-authenticate"].startswith("Bearer ")
    assert served.watched == 0


async def test_an_id_that_was_never_sent_is_answered_410_in_json(served: Served, scene: Scene):
    async with looking(served.address, scene.account.svc_key, KINDS, after=2**60) as events:
        assert await refusal(events) == (410, "updates_missed", JSON)


async def test_a_key_that_is_not_good_is_answered_401_in_json(served: Served):
    async with looking(served.address, "nonsense", KINDS) as events:
        body = orjson.loads(await events.response.aread())

    assert events.response.status_code == 401
    assert events.response.headers["content-type"] == "application/json; charset=utf-8"
    assert body["errors"][0]["extensions"]["code"] == "unauthenticated"


async def test_a_mutation_is_not_run_by_a_get(served: Served, scene: Scene):
    mutation = 'mutation { create_contact(contact: {phone: "+12025550143"}) { id } }'
    async with looking(served.address, scene.account.svc_key, mutation, "GET") as events:
        assert events.response.status_code == 405


async def test_a_client_that_reads_no_events_gets_no_subscription(served: Served, scene: Scene):
    async with looking(
        served.address, scene.account.svc_key, KINDS, headers={"Accept": "application/graphql-response+json"}
    ) as events:
        [error] = orjson.loads(await events.response.aread())["errors"]

    assert events.response.status_code == 400
    assert error["message"] == "A subscription is a stream: accept text/event-stream, or use a WebSocket."


async def test_a_client_that_reads_both_gets_json_for_a_query_and_events_for_a_subscription(
    served: Served, scene: Scene
):
    headers = {"Accept": "application/json, text/event-stream"}
    async with looking(served.address, scene.account.svc_key, "{ __typename }", headers=headers) as events:
        plain = orjson.loads(await events.response.aread())
    async with looking(served.address, scene.account.svc_key, KINDS, headers=headers) as events:
        stream = events.response.headers["content-type"]

    assert plain == {"data": {"__typename": "Query"}}
    assert stream == "text/event-stream; charset=utf-8"


async def test_a_quiet_stream_is_kept_alive(served: Served, scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "QUIET_SECONDS", 0.05)
    async with looking(served.address, scene.account.svc_key, KINDS) as events:
        lines = events.response.aiter_lines()
        heard = [await anext(lines) for _ in range(6)]

    assert heard == [":", ""] * 3


async def test_a_key_that_is_revoked_ends_its_streams(served: Served, scene: Scene, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "QUIET_SECONDS", 0.1)
    id, key = await scene.key(Scope.messages_read)
    async with looking(served.address, key, KINDS) as events:
        await scene.receive("Hello")
        await events.update()
        await events.update()

        await scene.revoke(id)

        [error] = await errors(events)
        assert error["extensions"]["code"] == "unauthenticated"
        assert await events.next() == {"event": "complete", "data": ""}
        assert await events.next() is None


async def test_a_server_that_stops_ends_its_streams_at_once_and_without_completing_them(served: Served, scene: Scene):
    async with looking(served.address, scene.account.svc_key, KINDS) as events:
        await scene.receive("Hello")
        await events.update()
        await events.update()

        stopping = asyncio.create_task(served.stop_without_grace())

        assert await events.next() is None
        await stopping


async def test_a_disconnected_client_leaves_no_watch_behind(served: Served, scene: Scene):
    async with looking(served.address, scene.account.svc_key, KINDS) as events:
        await scene.receive("Hello")
        await events.update()
        watched = served.watched

    await until(lambda: not served.watched)
    assert watched == 1
