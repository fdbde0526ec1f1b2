"""graphql-transport-ws: keys, operations, limits, and what ends a connection."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import orjson
import pytest
from websockets.exceptions import InvalidStatus

from app.domain.accounts.scopes import Scope
from app.domain.onboarding.service import Opened
from app.graphql.transport import websocket
from app.graphql.transport.websocket import PROTOCOL
from app.jobs import live
from app.settings import Settings
from tests.factories.contacts import CONTACTS
from tests.graphql.live import ALL, KINDS, Scene, Served, serving, talking
from tests.waiting import never, until, within

pytestmark = pytest.mark.anyio

TYPENAME = "{ __typename }"


def codes(message: Any) -> list[str]:
    assert message["type"] == "error", message
    return [error["extensions"]["code"] for error in message["payload"]]


async def test_a_query_and_a_mutation_are_answered_once(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe("{ balance { balance } }", id="q")
        query = [await talk.hear(), await talk.hear()]
        await talk.subscribe('mutation { create_contact(contact: {phone: "+12025550143"}) { phone } }', id="m")
        mutation = [await talk.hear(), await talk.hear()]

    assert query[0] == {"id": "q", "type": "next", "payload": {"data": {"balance": {"balance": 1000}}}}
    assert query[1] == {"id": "q", "type": "complete"}
    assert mutation[0]["payload"] == {"data": {"create_contact": {"phone": "+12025550143"}}}
    assert mutation[1] == {"id": "m", "type": "complete"}
    assert await CONTACTS.count(scene.services) == 1


async def test_a_rule_that_refuses_is_a_result(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe("{ message(id: 1) { id } }")

        result = await talk.hear()

    [error] = result["payload"]["errors"]
    assert (result["type"], result["payload"]["data"]) == ("next", {"message": None})
    assert (error["message"], error["path"], error["extensions"]["code"]) == (
        "No message with id 1.",
        ["message"],
        "not_found",
    )


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ no_such_field }", "invalid_graphql"),
        ("subscription { updates { id } more: updates { id } }", "invalid_graphql"),
        ("subscription { updates(after: 1.5) { id } }", "invalid_graphql"),
        ("", "invalid_graphql"),
        ("# " + "x" * 40_000, "query_too_complex"),
    ],
)
async def test_a_document_that_cannot_be_run_is_an_error(served: Served, scene: Scene, query: str, code: str):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(query)
        refused = await talk.hear()
        await talk.subscribe(TYPENAME)
        answered = await talk.hear()

    assert set(codes(refused)) == {code}
    assert answered["payload"] == {"data": {"__typename": "Query"}}


async def test_every_field_needs_its_scope(served: Served, scene: Scene):
    _, reads_contacts = await scene.key(Scope.contacts_read)
    _, reads_messages = await scene.key(Scope.messages_read)
    async with talking(served.address, reads_contacts) as talk:
        await talk.subscribe(KINDS)
        without_messages = await talk.hear()
    async with talking(served.address, reads_messages) as talk:
        await talk.subscribe(ALL)
        without_conversations = await talk.hear()
        await talk.subscribe(KINDS, id="2")
        await scene.receive("Hello")
        shown = await talk.next()

    assert codes(without_messages) == codes(without_conversations) == ["insufficient_scope"]
    assert "messages:read" in without_messages["payload"][0]["message"]
    assert "conversations:read" in without_conversations["payload"][0]["message"]
    assert shown["kind"] == "conversation_changed"


async def test_the_key_may_stand_in_the_headers(served: Served, scene: Scene):
    headers = {"X-API-Key": scene.account.svc_key}
    async with talking(served.address, additional_headers=headers) as talk:
        await talk.init(None)
        await talk.subscribe(TYPENAME)

        assert (await talk.hear())["payload"] == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize("payload", [None, {}, {"authorization": "Bearer nonsense"}, {"authorization": 7}, []])
async def test_a_client_without_a_valid_key_is_refused(served: Served, payload: Any):
    async with talking(served.address) as talk:
        await talk.say(type="connection_init", payload=payload)

        assert await talk.end() == (4403, "Forbidden")


async def test_a_key_that_is_revoked_ends_its_connections(
    served: Served, scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "QUIET_SECONDS", 0.1)
    id, key = await scene.key(Scope.messages_read)
    async with talking(served.address, key) as talk:
        await talk.subscribe(KINDS)
        await scene.receive("Hello")
        await talk.next()

        await scene.revoke(id)

        assert await talk.end() == (4403, "Forbidden")


async def test_pings_are_answered_and_pongs_are_not(served: Served):
    async with talking(served.address) as talk:
        await talk.say(type="pong")
        await talk.say(type="ping", payload={"some": "thing"})

        assert await talk.hear() == {"type": "pong"}


async def test_a_pong_before_the_key_does_not_keep_a_place_that_others_need(settings: Settings, account: Opened):
    few = settings.model_copy(update={"max_connections": 10, "max_connections_per_address": 10})
    async with serving(few) as served, AsyncExitStack() as stack:
        known = await stack.enter_async_context(talking(served.address, account.svc_key))
        strangers = [await stack.enter_async_context(talking(served.address)) for _ in range(9)]
        for stranger in strangers:
            await stranger.say(type="ping")
            assert await stranger.hear() == {"type": "pong"}

        async with talking(served.address, account.svc_key) as newcomer:
            assert await strangers[0].end() == (1006, "")
            for talk in (known, newcomer):
                await talk.subscribe(TYPENAME)
                assert (await talk.hear())["payload"] == {"data": {"__typename": "Query"}}


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        ("not json", "Messages are JSON in text frames"),
        (b"{}", "Messages are JSON in text frames"),
        ("[]", "Messages are JSON objects"),
        ("{}", "The message is of no known type, or lacks a member"),
        ('{"type": "start", "id": "1"}', "The message is of no known type, or lacks a member"),
        ('{"type": "subscribe", "payload": {}}', "The message is of no known type, or lacks a member"),
        ('{"type": "subscribe", "id": "", "payload": {}}', "The message is of no known type, or lacks a member"),
        ('{"type": "subscribe", "id": 1, "payload": {}}', "The message is of no known type, or lacks a member"),
        ('{"type": "subscribe", "id": "1"}', "The message is of no known type, or lacks a member"),
    ],
)
async def test_a_message_that_is_none_ends_the_connection(served: Served, scene: Scene, frame: str, reason: str):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.say_raw(frame)

        assert await talk.end() == (4400, reason)


async def test_operations_wait_for_the_acknowledgement(served: Served):
    async with talking(served.address) as talk:
        await talk.subscribe(TYPENAME)

        assert await talk.end() == (4401, "Unauthorized")


async def test_a_client_that_sends_nothing_is_disconnected(served: Served, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(websocket, "INIT_SECONDS", 0.1)
    async with talking(served.address) as talk:
        assert await talk.end() == (4408, "Connection initialisation timeout")


async def test_two_operations_cannot_have_one_id(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, id="one")
        await talk.subscribe(KINDS, id="one")

        assert await talk.end() == (4409, "Subscriber for one already exists")


async def test_a_connection_is_initialised_once(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.say(type="connection_init", payload={"authorization": f"Bearer {scene.account.svc_key}"})

        assert await talk.end() == (4429, "Too many initialisation requests")


async def test_an_account_has_so_many_connections_at_a_time(
    served: Served, scene: Scene, new_account: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket, "MAX_SOCKETS", 2)
    key, others = scene.account.svc_key, (await new_account(company_name="Others")).svc_key
    refusal = (1013, "An account can have 2 connections in one process")
    payload = {"Authorization": f"Bearer {key}"}
    async with talking(served.address, key) as first, talking(served.address) as refused:
        async with talking(served.address, key), talking(served.address, others):
            await refused.say(type="connection_init", payload=payload)
            assert await refused.end() == refusal
        await until(lambda: len(served.server.server_state.tasks) == 1)

        async with talking(served.address, key) as second, talking(served.address) as third:
            await third.say(type="connection_init", payload=payload)
            assert await third.end() == refusal
            for talk in (first, second):
                await talk.subscribe(TYPENAME)
                assert (await talk.hear())["payload"] == {"data": {"__typename": "Query"}}


async def test_another_protocol_is_not_spoken(served: Served):
    async with talking(served.address, protocol="graphql-ws") as talk:
        assert await talk.end() == (4406, "Subprotocol not acceptable")


async def test_a_message_that_is_too_large_ends_the_connection(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe("#" * 1024 * 1024)

        code, _ = await talk.end()

    assert code == 1009


async def test_a_page_of_another_site_is_refused(served: Served):
    with pytest.raises(InvalidStatus) as refused:
        async with talking(served.address, origin="https://evil.example"):
            pass

    assert refused.value.response.status_code == 403


async def test_a_page_of_our_own_is_not(served: Served, scene: Scene):
    origin = f"http://{served.address.partition('/')[0]}"
    async with talking(served.address, scene.account.svc_key, origin=origin) as talk:
        await talk.subscribe(TYPENAME)

        assert (await talk.hear())["type"] == "next"


async def test_an_operation_that_was_completed_is_heard_of_no_more_and_its_id_is_free(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(id="one")
        await talk.say(id="one", type="complete")
        await talk.say(id="never begun", type="complete")
        await talk.subscribe(id="one", kinds=["new_message"])
        await scene.receive("Hello")

        shown = await talk.hear()

    assert (shown["id"], shown["payload"]["data"]["updates"]["kind"]) == ("one", "new_message")


async def test_a_connection_runs_so_many_operations_at_a_time(
    served: Served, scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket, "MAX_OPERATIONS", 2)
    async with talking(served.address, scene.account.svc_key) as talk:
        for id in ("one", "two", "three"):
            await talk.subscribe(KINDS, id=id)
        refused = await talk.hear()
        await talk.say(id="one", type="complete")
        await talk.subscribe(TYPENAME, id="four")
        answered = await talk.hear()

    assert (refused["id"], codes(refused)) == ("three", ["query_too_complex"])
    assert (answered["id"], answered["type"]) == ("four", "next")


async def test_a_client_that_reads_no_answers_is_read_no_further(
    served: Served, scene: Scene, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket, "MAX_OPERATIONS", 2)
    init = orjson.dumps({"type": "connection_init", "payload": {"x-api-key": scene.account.svc_key}}).decode()
    said = [{"type": "websocket.connect"}, {"type": "websocket.receive", "text": init}]
    wrong = ({"id": str(number), "type": "subscribe", "payload": {}} for number in range(100))
    said += [{"type": "websocket.receive", "text": orjson.dumps(message).decode()} for message in wrong]
    said.reverse()
    sent: list[str] = []
    is_answered = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return said.pop() if said else await never()

    async def send(message: dict[str, Any]) -> None:
        if is_answered.is_set():
            await never()
        sent.append(message.get("text", message["type"]))
        if message["type"] != "websocket.accept":
            is_answered.set()

    scope = {"type": "websocket", "path": "/graphql", "query_string": b"", "headers": [], "subprotocols": [PROTOCOL]}
    await until(lambda: served.server.started)
    application: Any = served.server.config.loaded_app
    connection = asyncio.create_task(application(scope, receive, send))
    await within("the answer to connection_init", is_answered.wait())
    assert sent == ["websocket.accept", '{"type":"connection_ack"}']
    for _ in range(1000):
        await asyncio.sleep(0)

    assert len(said) == 100 - 3
    connection.cancel()
    await within("connection to end", asyncio.wait({connection}))


async def test_an_account_has_so_many_streams_at_a_time(
    served: Served, scene: Scene, new_account: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "MAX_STREAMS", 1)
    other = await new_account()
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, id="one", kinds=["new_message"])
        await scene.receive("Hello")
        await talk.next()
        await talk.subscribe(KINDS, id="two")
        refused = await talk.hear()
        async with talking(served.address, other.svc_key) as another:
            await another.subscribe(KINDS, id="one")
            await another.say(type="ping")
            unharmed = await another.hear()

    assert (refused["id"], codes(refused)) == ("two", ["too_many_streams"])
    assert unharmed == {"type": "pong"}


async def test_a_stopping_server_tells_subscribers_to_reconnect(served: Served, scene: Scene):
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS)
        await talk.say(type="ping")
        await talk.hear()

        stopping = asyncio.create_task(served.stop_without_grace())

        assert await talk.end() == (1012, "")
        await stopping
