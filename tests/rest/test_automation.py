"""The specification's chapter on triggers: every event is caused where users cause it, and heard where they hear it."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import httpx2
import orjson
import pytest
from aiohttp import web
from standardwebhooks import Webhook

from app.bootstrap import derive, open_delivery_workers, open_dispatcher
from app.domain.kernel.events import EVENTS
from app.domain.onboarding.service import Opened
from app.domain.webhooks import payloads
from app.services import Services
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post, Receiver, receiving
from tests.factories.events import event_names
from tests.rest.answers import data, refusal
from tests.rest.carriers import call
from tests.waiting import until

pytestmark = pytest.mark.anyio

PHONE, INVALID = "+12025550143", "+15005550001"
ANN = {"phone": PHONE, "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com", "tags": ["vip"]}

SET_DND = "mutation ($id: BigInt!) { update_contact(id: $id, changes: {dnd_sms: true}) { id } }"
WATCH = 'mutation { watch_keyword(keyword: "Menu") { keyword } }'
MAKE_SEQUENCE = """
mutation { create_sequence(name: "Welcome", steps: [{delay_minutes: 0, body: "Welcome, {first_name}!"}]) { id } }
"""
CREATE = """
mutation ($url: String!, $events: [String!]!) { create_webhook(target_url: $url, events: $events) { id secret events } }
"""


@pytest.fixture
async def receiver() -> AsyncGenerator[Receiver]:
    """Give a subscriber."""
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
def harness(services: Services, account: Opened, receiver: Receiver) -> Harness:
    """Give what dispatches and delivers."""
    return Harness(services, account, receiver, open_dispatcher(services), open_delivery_workers(services))


@pytest.fixture
def hear(http: httpx2.AsyncClient, services: Services, account: Opened) -> Callable[[str], Awaitable[Any]]:
    """Give a function by which a person texts the account's number."""
    ids = iter(range(1, 100))

    async def hear(text: str) -> Any:
        said = {"id": f"sbx_in_{next(ids)}", "from": PHONE, "to": account.phone_number, "text": text}
        return await call(http, derive(services.settings, "sandbox"), "/carriers/sandbox/inbound", said)

    return hear


async def subscribe(api: httpx2.AsyncClient, event: str, url: str, **more: str) -> Any:
    return data(await api.post("/automation/subscribe", json={"event": event, "target_url": url, **more}))


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await api.post("/graphql", json={"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def cause_everything(api: httpx2.AsyncClient, hear: Callable[[str], Any], work: Callable[[], Any]) -> None:
    """Do, by REST, GraphQL and the carrier's callbacks, what causes every event there is."""
    id = data(await api.post("/contacts", json=ANN))["id"]
    for changes in ({"pipeline_stage": "qualified"}, {"tags": ["vip", "newsletter"]}, {"tags": ["newsletter"]}):
        data(await api.put(f"/contacts/{id}", json=changes))
    for to in (PHONE, INVALID):
        data(await api.post("/sms/send", json={"to": to, "message": "Hello", "consent_attested": True}))
    sequence_id = (await ask(api, MAKE_SEQUENCE))["create_sequence"]["id"]
    enrollment = {"sequence_id": sequence_id, "contact_id": id}
    data(await api.post("/automation/actions/add-to-campaign", json=enrollment))
    await work()
    await hear("Do you have a table for two tonight?")
    await ask(api, WATCH)
    await hear("Menu!")
    await ask(api, SET_DND, id=id)
    await hear("STOP")
    await work()


def shape(value: Any) -> Any:
    """Return the keys of an object in their order, and the types of what they stand for."""
    if isinstance(value, dict):
        return [(key, shape(each)) for key, each in value.items()]
    return type(value)


async def test_every_event_is_delivered_in_the_shape_of_its_sample(
    api: httpx2.AsyncClient, harness: Harness, hear: Callable[[str], Any], work: Callable[[], Any]
) -> None:
    names = payloads.hook_names()
    for name in names:
        await subscribe(api, name, f"{harness.receiver.url}/{name}")
    samples = {name: (await api.get(f"/automation/sample/{name}")).json() for name in names}

    async with harness.at_work():
        await cause_everything(api, hear, work)
        await until(lambda: is_told(harness, "keyword_reply"))
        caused = await event_names(harness.pool, *names)
        posts = await harness.receiver.expect(len(caused))

    assert len(names) == 12
    assert set(caused) == set(names)
    assert sorted(post.headers["webhook-event"] for post in posts) == sorted(caused)
    for post in posts:
        name = post.headers["webhook-event"]
        assert post.path == f"/{name}"
        assert shape(post.body) == shape(samples[name][0])


async def test_the_six_dotted_names_are_delivered_in_the_envelope_and_verify(
    api: httpx2.AsyncClient, harness: Harness, hear: Callable[[str], Any], work: Callable[[], Any]
) -> None:
    topics = {topic: name for topic, name in payloads.topics().items() if name != "automation_webhook"}
    made = await ask(api, CREATE, url=harness.receiver.url, events=list(topics))

    async with harness.at_work():
        await cause_everything(api, hear, work)
        caused = await event_names(harness.pool, *topics.values())
        posts = await harness.receiver.expect(len(caused))

    webhook = made["create_webhook"]
    assert webhook["events"] == list(topics)
    assert set(caused) == set(topics.values())
    for post in posts:
        body = Webhook(webhook["secret"]).verify(post.raw, post.headers)
        name = post.headers["webhook-event"]
        assert (list(body), body["type"]) == (["type", "timestamp", "data"], name)
        sample = payloads.sample("hook", topics[name], harness.services.clock.now())
        assert shape(body["data"]) == shape(orjson.loads(sample))


async def test_received_messages_are_delivered_in_order_with_their_contact(
    api: httpx2.AsyncClient, harness: Harness, hear: Callable[[str], Any]
) -> None:
    await subscribe(api, "new_message", harness.receiver.url)
    id = data(await api.post("/contacts", json=ANN))["id"]
    async with harness.at_work():
        for number in range(5):
            await hear(f"Text {number}")
        posts = await harness.receiver.expect(5)

    assert [post.body["body"] for post in posts] == [f"Text {number}" for number in range(5)]
    whom = {key: value for key, value in posts[0].body.items() if key.startswith("contact_")}
    assert whom == {
        "contact_id": id,
        "contact_first_name": "Ann",
        "contact_last_name": "Lee",
        "contact_phone": PHONE,
        "contact_email": "ann@example.com",
    }


async def test_unknown_fields_of_a_contact_are_empty(
    api: httpx2.AsyncClient, harness: Harness, hear: Callable[[str], Any]
) -> None:
    await subscribe(api, "new_contact", harness.receiver.url)
    async with harness.at_work():
        await hear("Hi")
        [post] = await harness.receiver.expect(1)

    known = {key: post.body[key] for key in ("first_name", "last_name", "email", "tags", "source")}
    assert known == {"first_name": "", "last_name": "", "email": "", "tags": [], "source": "inbound_sms"}


@pytest.mark.parametrize("name", payloads.hook_names())
async def test_a_sample_is_a_bare_array_of_one(api: httpx2.AsyncClient, name: str) -> None:
    answer = await api.get(f"/automation/sample/{name}")

    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.json() == [EVENTS[name].example]


async def test_subscribing_answers_the_id_and_nothing_else(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    answer = await subscribe(api, "new_message", f"{receiver.url}/hook")
    [listed] = data(await api.get("/automation/subscriptions"))

    assert set(answer) == {"id"}
    assert isinstance(answer["id"], int)
    created_at = listed.pop("created_at")
    assert created_at.endswith("Z")
    assert listed == {
        "id": answer["id"],
        "events": ["new_message"],
        "target_url": f"{receiver.url}/hook",
        "status": "active",
    }


async def test_a_subscriber_may_bring_its_own_secret(api: httpx2.AsyncClient, harness: Harness) -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    await subscribe(api, "new_contact", harness.receiver.url, secret=secret)
    async with harness.at_work():
        data(await api.post("/contacts", json=ANN))
        [post] = await harness.receiver.expect(1)

    assert Webhook(secret).verify(post.raw, post.headers) == post.body


async def test_unsubscribing_ends_it_once(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    id = (await subscribe(api, "new_message", receiver.url))["id"]

    first = await api.request("DELETE", f"/automation/unsubscribe/{id}")
    second = await api.request("DELETE", f"/automation/unsubscribe/{id}")

    assert data(first) == {"id": id}
    assert refusal(second) == (404, "not_found", f"No webhook subscription with id {id}.")
    assert data(await api.get("/automation/subscriptions")) == []


async def test_unsubscribing_ends_no_webhook_of_the_dashboard(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    made = await api.post(
        "/graphql",
        json={
            "query": f'mutation {{ create_webhook(target_url: "{receiver.url}", events: "message.inbound") {{ id }} }}'
        },
    )
    id = made.json()["data"]["create_webhook"]["id"]

    answer = await api.request("DELETE", f"/automation/unsubscribe/{id}")

    assert refusal(answer) == (404, "not_found", f"No webhook subscription with id {id}.")
    left = await api.post("/graphql", json={"query": "{ webhooks { id status } }"})
    assert left.json()["data"]["webhooks"] == [{"id": id, "status": "active"}]


@pytest.mark.parametrize("name", ["message_sent", "message.inbound", "send_blocked", "NEW_MESSAGE"])
async def test_an_event_outside_the_twelve_is_refused_with_the_twelve(
    api: httpx2.AsyncClient, receiver: Receiver, name: str
) -> None:
    wish = {"event": name, "target_url": receiver.url}

    for answer in (await api.post("/automation/subscribe", json=wish), await api.get(f"/automation/sample/{name}")):
        status, code, text = refusal(answer)
        assert (status, code) == (422, "unknown_event")
        assert all(each in text for each in payloads.hook_names())


@pytest.mark.parametrize(
    "url", ["", "hook", "ftp://example.com/", "https://user:word@example.com/", "http://10.0.0.1/", "https://[::1"]
)
async def test_an_address_that_cannot_be_posted_to_is_refused(api: httpx2.AsyncClient, url: str) -> None:
    answer = await api.post("/automation/subscribe", json={"event": "new_message", "target_url": url})

    assert refusal(answer)[:2] == (422, "invalid_url")


async def test_a_secret_that_no_library_takes_is_refused(api: httpx2.AsyncClient, receiver: Receiver) -> None:
    wish = {"event": "new_message", "target_url": receiver.url, "secret": "secret"}

    status, code, text = refusal(await api.post("/automation/subscribe", json=wish))

    assert (status, code) == (422, "invalid_input")
    assert "whsec_" in text


async def test_zapier_which_answers_410_after_unsubscribing_is_left_alone(
    api: httpx2.AsyncClient, harness: Harness
) -> None:
    await subscribe(api, "new_contact", harness.receiver.url)
    harness.receiver.respond = gone
    async with harness.at_work():
        data(await api.post("/contacts", json=ANN))
        await until(lambda: is_empty(api))

    assert len(harness.receiver.posts) == 1


def gone(_: Post) -> web.Response:
    return web.Response(status=410)


async def is_told(harness: Harness, name: str) -> bool:
    return await event_names(harness.pool, name) != []


async def is_empty(api: httpx2.AsyncClient) -> bool:
    return data(await api.get("/automation/subscriptions")) == []
