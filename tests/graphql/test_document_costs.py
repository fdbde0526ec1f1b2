"""Limits of parsing documents; the caller is counted before the parsing."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from uuid import uuid4

import httpx2
import pytest
from starlette.applications import Starlette

from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution import documents
from app.graphql.execution.documents import MAX_ERRORS, Documents, count_tokens, count_units, prepare
from app.graphql.execution.execute import Executor
from app.graphql.transport import endpoint
from app.providers import rate_limits
from app.providers.rate_limits import Policy
from app.services import Services
from app.telemetry.requests import RequestTelemetry
from tests.counting import count_calls
from tests.graphql.calls import DOCS, TYPENAME, codes, get, post, serving
from tests.graphql.live import Served, talking

pytestmark = pytest.mark.anyio

UNREADABLE = {"query": "{"}
INTROSPECTION = {"query": "{ __schema { types { name } } }"}

WORST = {
    "one field": "{account{" + "id " * 990 + "}}",
    "one root field": "{" + "account " * 990 + "}",
    "typenames": "{" + "__typename " * 990 + "}",
    "introspection": '{__type(name:"Contact"){' + "name " * 980 + "}}",
    "inline fragments": "{" + "...{id}" * 240 + "}",
    "nested inline fragments": "{" + "...{id " * 199 + "x" + "}" * 199 + "}",
    "spreads": "{"
    + "".join(f"...f{n} " for n in range(90))
    + "}"
    + "".join(f"fragment f{n} on Query{{__typename}}" for n in range(90)),
    "a chain of fragments": "{...f0}" + "".join(f"fragment f{n} on Query{{...f{n + 1}}}" for n in range(120)),
    "circles of fragments": "{...f0}"
    + "".join(f"fragment f{n} on Query{{...f{(n + 1) % 99} ...f{(n + 7) % 99}}}" for n in range(99)),
    "operations": "".join(f"query q{n}{{...f}}" for n in range(140)) + "fragment f on Query{account{id}}",
    "variables": "query(" + "".join(f"$v{n}:Int " for n in range(240)) + "){account{id}}",
    "unknown types": "query(" + "".join(f"$v{n}:Messag " for n in range(240)) + "){account{id}}",
    "unknown fields": "{account{" + "".join(f"i{n} " for n in range(980)) + "}}",
    "unknown long fields": "{account{" + "".join(f"i{n}".ljust(32, "x") + " " for n in range(980)) + "}}",
    "unknown arguments": "{contacts(" + "".join(f"firs{n}:1 " for n in range(320)) + "){total_count}}",
    "unknown enum values": "subscription{updates(kinds:[" + "messag " * 980 + "]){id}}",
    "unknown directives": "{account{id " + "@includ " * 480 + "}}",
    "directives": "{account{" + "id @skip(if:false) " * 120 + "}}",
    "a long list": "{contacts(first:[" + "1 " * 980 + "]){total_count}}",
    "nested lists": "{contacts(first:" + "[" * 190 + "]" * 190 + "){total_count}}",
    "a wide object": "{contacts(first:{" + "".join(f"a{n}:1 " for n in range(320)) + "}){total_count}}",
    "conflicts": "{account{" + "".join(f"a:{name} " for name in ["id", "email"] * 15) + "}}",
    "escapes": '{contacts(search:"' + "\\u0041" * 5000 + '"){total_count}}',
    "a comment": "{account{id}}#" + "x" * 32_000,
}
"""Documents within the limits of size, each the worst of its kind that was found."""

MOST_CALLS = 150_000


@cache
def calls_of(name: str) -> int:
    """Return the calls for reading one of the worst documents."""
    return count_calls(lambda: prepare(WORST[name]))


def limited(services: Services, quota: int) -> Services:
    """Return the services with another limit for what comes without a key, which nothing has used yet."""
    some, read = (Policy(f"{name}-{uuid4()}", quota) for name in ("anonymous", "documents"))
    return replace(services, limits=replace(services.limits, anonymous=some, documents=read))


def in_production(services: Services) -> Services:
    settings = services.settings.model_copy(update={"base_url": "https://sms.example.com", "environment": "production"})
    return replace(limited(services, 100), settings=settings)


@pytest.fixture
def counting(services: Services, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Return the services with a limit that nothing has used, and of which next to nothing comes back with time."""
    monkeypatch.setattr(rate_limits, "WINDOW_SECONDS", 1_000_000)
    quotas = {"requests": 500, "documents": 60, "anonymous": 500}
    policies = {name: Policy(f"{name}-{uuid4()}", quota) for name, quota in quotas.items()}
    return replace(services, limits=replace(services.limits, **policies))


def telling(services: Services, *scopes: str) -> httpx2.AsyncClient:
    """Return a client whose answers tell what is left."""

    async def identify(_: Mapping[str, str]) -> Actor:
        return Actor(1, frozenset(scopes), "key:1")

    app = RequestTelemetry(Starlette(routes=endpoint.routes(Executor(services), identify, DOCS)))
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app))


def left(response: httpx2.Response) -> int:
    return int(response.headers["ratelimit"].partition(";r=")[2].partition(";")[0])


@pytest.mark.parametrize("name", WORST)
def test_the_worst_documents_are_read_in_bounded_work(name: str):
    text = WORST[name]
    assert len(text) <= 32_768
    prepare(text)

    assert calls_of(name) <= MOST_CALLS


@pytest.mark.parametrize("name", WORST)
def test_the_work_is_counted_to_the_reader(name: str):
    prepare(WORST[name])

    assert count_units(WORST[name]) * 4_000 >= calls_of(name)


def test_fields_are_compared_a_bounded_number_of_times():
    half, whole = ("{account{" + "id " * count + "}}" for count in (400, 800))

    assert prepare(whole).errors[0].message == documents.TOO_TANGLED
    assert count_calls(lambda: prepare(whole)) < 2 * count_calls(lambda: prepare(half))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("{ a(b: -1.5) }", 11),
        ('{ a(b: "c d \\" e") }', 8),
        ('{ a(b: """c " d \\""" e""") { f } }', 11),
        ("{ a, # b c d\n e }", 5),
        ('{ a(b: "c d\n e f', 8),
        ('{ a(b: """c d\n e f', 6),
        ('"' + '\\"' * 10_000, 1),
        ('"""' + '\\"""' * 8_000, 1),
    ],
)
def test_at_least_as_many_tokens_are_counted_as_there_are(text: str, count: int):
    assert count_tokens(text) == count


@pytest.mark.parametrize("name", ["unknown fields", "unknown arguments", "unknown enum values", "variables"])
def test_no_more_errors_are_told_than_a_few(name: str):
    assert len(prepare(WORST[name].replace("i0", "first_name")).errors) == MAX_ERRORS


def test_introspection_takes_no_aliases():
    texts = [
        "{ __schema { a: types { name } } }",
        "{ __schema { types { ...f } } } fragment f on __Type { a: name }",
        '{ ... { __type(name: "Contact") { fields { ... { a: name } } } } }',
    ]

    assert [[error.message for error in prepare(text).errors] for text in texts] == [
        ["Introspection takes no aliases."]
    ] * 3


def test_the_documents_that_are_kept_have_a_limited_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documents, "MAX_KEPT_TOKENS", 50)
    kept, texts = Documents(), [f"{{ account {{ id }} }} # {n}" for n in range(10)]
    assert count_tokens(texts[0]) == 7

    for text in texts:
        kept.read(text)
    assert [text for text in texts if kept.find(text, None)] == texts[3:]

    kept.read("{ account { id } }" + " " * 3_000)
    assert [text for text in texts if kept.find(text, None)] == texts[8:]


def test_a_document_that_is_used_is_kept_longer(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documents, "MAX_KEPT_TOKENS", 50)
    kept, texts = Documents(), [f"{{ account {{ id }} }} # {n}" for n in range(10)]

    for text in texts:
        kept.read(text)
        assert kept.find(texts[0], None)

    assert kept.find(texts[1], None) is None


async def test_outside_development_nothing_is_read_without_a_key(services: Services):
    async with serving(in_production(services)) as client:
        answers = [
            await post(client, UNREADABLE),
            await post(client, TYPENAME),
            await post(client, INTROSPECTION),
            await post(client, INTROSPECTION, "text/event-stream"),
            await get(client, query="{"),
            await client.post("http://127.0.0.1:8000/graphql", content=b"no JSON"),
        ]

    assert [(answer.status_code, codes(answer)) for answer in answers] == [(401, ["unauthenticated"])] * 6
    assert answers[0].headers["www-authenticate"].startswith("Bearer ")


async def test_outside_development_a_key_may_introspect(services: Services):
    async with serving(in_production(services), Actor(1, frozenset(), f"key:{uuid4()}")) as client:
        answer = await post(client, INTROSPECTION)

    assert answer.status_code == 200
    assert {"name": "Contact"} in answer.json()["data"]["__schema"]["types"]


async def test_in_development_a_request_without_a_key_is_counted_for_its_address(services: Services):
    async with serving(limited(services, 4)) as client:
        answers = [await post(client, TYPENAME) for _ in range(4)]
        refused = [await post(client, UNREADABLE), await post(client, UNREADABLE, "text/event-stream")]

    assert [answer.status_code for answer in answers] == [200] * 4
    assert [(answer.status_code, codes(answer)) for answer in refused] == [(429, ["rate_limited"])] * 2
    assert int(refused[0].headers["retry-after"]) > 0


async def test_a_document_is_counted_by_its_size_when_it_is_read_first_and_not_again(counting: Services):
    texts = ["{ balance { " + "balance @include(if:true) " * 60 + f"}} }} # {n}" for n in range(3)]
    assert [count_units(text) for text in texts] == [25] * 3
    async with telling(counting, "billing:read") as client:
        answers = [await post(client, {"query": text}) for text in (*texts[:2], *texts, "{", "{")]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429, 400, 400]
    assert codes(answers[4]) == ["rate_limited"]


async def test_without_a_key_documents_are_counted_for_the_address(counting: Services):
    async with serving(counting) as client:
        answers = [await post(client, {"query": f"{WORST['one field']} # {n}"}) for n in range(2)]

    assert [codes(answer) for answer in answers] == [["query_too_complex"], ["rate_limited"]]


async def test_introspection_without_a_key_counts_by_its_weight(services: Services):
    async with serving(limited(services, 100)) as client:
        answers = [(await post(client, INTROSPECTION)).status_code for _ in range(2)]

    assert answers == [200, 429]


async def test_the_cost_of_a_document_follows_its_largest_possible_answer(counting: Services):
    text = "{ contacts(first: 200) { nodes { id phone } } }"
    async with telling(counting, "contacts:read") as client:
        await post(client, {"query": text})
        before = left(await post(client, TYPENAME))
        after = left(await post(client, {"query": text}))

    assert before - after == 1 + (1 + 200 * 3) // 100


async def test_large_variables_count_by_their_size(counting: Services):
    async with telling(counting) as client:
        before = left(await post(client, TYPENAME))
        after = left(await post(client, {**TYPENAME, "variables": {"unused": "x" * 40_000}}))

    assert before - after == 1 + 40_060 // 4096


async def test_a_document_beyond_the_limit_of_a_key_is_not_read(counting: Services):
    async with telling(counting) as client:
        first = await post(client, {"query": WORST["one field"]})
        second = await post(client, {"query": WORST["one field"]})
        third = await post(client, TYPENAME)

    assert (first.status_code, codes(first)) == (400, ["query_too_complex"])
    assert (second.status_code, codes(second)) == (429, ["rate_limited"])
    assert third.status_code == 200


async def test_an_endless_accept_header_is_read_in_part(services: Services):
    async with serving(services) as client:
        accept = "application/json, " + ", ".join(f"a/{n}" for n in range(5_000))
        calls = 0

        def note(_frame: object, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(note)
        try:
            answer = await post(client, TYPENAME, accept)
        finally:
            sys.setprofile(None)

    assert answer.status_code == 200
    assert calls < 5_000


async def test_before_it_has_a_key_a_connection_reads_small_messages_only(served: Served):
    async with talking(served.address) as talk:
        await talk.say(type="ping", payload={"a": "x" * 5_000})

        assert await talk.end() == (4400, "Only subscribe may have more than 4096 characters")


async def test_only_a_subscribe_message_may_be_large(served: Served, account: Opened):
    async with talking(served.address, account.svc_key) as talk:
        await talk.subscribe("{ balance { balance } } #" + "x" * 5_000)
        assert (await talk.hear())["payload"] == {"data": {"balance": {"balance": 1000}}}
        assert await talk.hear() == {"type": "complete", "id": "1"}

        await talk.say(type="ping", payload={"a": "x" * 5_000})

        assert await talk.end() == (4400, "Only subscribe may have more than 4096 characters")
