"""Malicious requests over GET and WebSocket: refused or executed, and the connection stays open."""

from collections.abc import Iterator

import httpx2
import pytest
from graphql import GraphQLField

from app.domain.accounts.scopes import Scope
from app.graphql.schema import CORE
from app.settings import Settings
from tests.graphql.live import Scene, Served, talking
from tests.graphql.test_hostile_values import fields, requests

pytestmark = pytest.mark.anyio

QUERY_STRINGS = [
    "query=%00",
    "query=%FF",
    "query=%ED%A0%80",
    "query={__typename}&query=x",
    "query={__typename}&operationName=%00",
    "query={__typename}&extensions=9",
    "query={__typename}&variables=%5B%5D",
    "query={__typename}&variables=%FF",
    "query={__typename}&variables=%7B%22a%22:NaN%7D",
    "query={__typename}&variables=%7B%22%5Cud800%22:1%7D",
    "query={__typename}&variables=" + "[" * 3_000,
    "%FF=%00",
]
FRAMES: list[str | bytes] = [b"\xff", "\x00", "[" * 4_000, '{"type": "\\ud800"}', '{"type": "complete", "id": {}}']
MANY = 10
"""Of the requests of a field so many are sent, evenly spread over its arguments and their values."""

GIVEN = ("contacts", "messages", "update_contact", "create_webhook", "updates")
"""The fields that this is held for: they have arguments of every kind."""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Allow so many requests that no limit is reached."""
    return settings.model_copy(update={"rate_limit": 10**6, "send_rate_limit": 10**6})


def spread(*kinds: str) -> Iterator[tuple[str, str]]:
    """Yield documents and their variables as JSON, some of each field."""
    for kind, name, field in [*fields(), *subscriptions()]:
        if kind in kinds and name in GIVEN:
            given = [request for request in requests(kind, name, field) if len(request[1]) < 6_000]
            yield from given[:: len(given) // MANY + 1]


def subscriptions() -> Iterator[tuple[str, str, GraphQLField]]:
    assert CORE.subscription_type
    for name, field in CORE.subscription_type.fields.items():
        yield "subscription", name, field


async def test_no_value_over_get_is_a_fault_of_ours(api: httpx2.AsyncClient) -> None:
    sent = [str(httpx2.QueryParams(query=text, variables=given)) for text, given in spread("query")]

    answers = [await api.get(f"/graphql?{query}") for query in [*sent, *QUERY_STRINGS]]

    assert len(sent) > MANY
    assert [answer.text for answer in answers if answer.status_code >= 500 or "internal_error" in answer.text] == []


async def test_no_value_over_a_websocket_is_a_fault_of_ours_or_ends_it(served: Served, scene: Scene) -> None:
    _, key = await scene.key(*Scope)
    sent = list(spread("query", "mutation", "subscription"))
    told: dict[str, str] = {}
    async with talking(served.address, key) as talk:
        for number, (text, given) in enumerate(sent):
            payload = f'{{"query": "{text}", "variables": {given}}}'
            await talk.say_raw(f'{{"type": "subscribe", "id": "{number}", "payload": {payload}}}')
            await talk.say(type="complete", id=str(number)) if text.startswith("subscription") else None
            while str(number) not in told and not text.startswith("subscription"):
                message = await talk.hear()
                told[message["id"]] = str(message)
        await talk.say(type="ping")
        while (message := await talk.hear())["type"] != "pong":
            told[message["id"]] = str(message)

    assert len(sent) > MANY * 3
    assert [answer for answer in told.values() if "internal_error" in answer] == []


async def test_no_frame_ends_a_connection_with_a_fault_of_ours(served: Served, scene: Scene) -> None:
    codes = []
    for frame in FRAMES:
        async with talking(served.address, scene.account.svc_key) as talk:
            await talk.say_raw(frame)
            codes.append((await talk.end())[0])

    assert codes == [4400] * len(FRAMES)
