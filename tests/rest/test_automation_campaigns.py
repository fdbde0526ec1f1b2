"""The specification's chapter on actions: add-to-campaign, and the drip sequence that follows to its last text."""

from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from app.bootstrap import open_delivery_workers, open_dispatcher, open_drip
from app.db.engine import Pool
from app.domain.kernel.events import EVENTS
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Receiver, receiving
from tests.factories.billing import audit
from tests.factories.contacts import CONTACTS
from tests.factories.events import event_names
from tests.factories.messages import calls
from tests.factories.sequences import SEQUENCE_ENROLLMENTS
from tests.factories.tables import ago
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

ENROLL = "/automation/actions/add-to-campaign"
PHONE = "+12025550143"
ANN = {"phone": PHONE, "first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}
MAKE = """
mutation ($name: String!, $steps: [NewSequenceStep!]!) {
  create_sequence(name: $name, steps: $steps) { id name status steps { position delay_minutes body } }
}
"""
SET_STATUS = """
mutation ($id: BigInt!, $status: SequenceStatus!) { update_sequence_status(id: $id, status: $status) { status } }
"""
STEPS = [{"delay_minutes": 30, "body": "Welcome, {first_name}!"}]
AT_ONCE = [{"delay_minutes": 0, "body": text} for text in ("Welcome, {first_name}!", "{company_name} is glad.")]


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.fixture
async def contact_id(http: httpx2.AsyncClient, account: Opened) -> int:
    """Give a contact."""
    key = {"X-API-Key": account.auto_key}
    return data(await http.post("/automation/actions/create-contact", json=ANN, headers=key))["id"]


@pytest.fixture
def make(http: httpx2.AsyncClient, account: Opened) -> Callable[..., Any]:
    """Give a function by which the account makes a sequence."""

    async def make(steps: list[dict[str, Any]], name: str = "Welcome") -> int:
        return (await ask(http, account.svc_key, MAKE, name=name, steps=steps))["create_sequence"]["id"]

    return make


async def ask(http: httpx2.AsyncClient, key: str, query: str, **variables: Any) -> Any:
    asked = {"query": query, "variables": variables}
    answer = (await http.post("/graphql", json=asked, headers={"Authorization": f"Bearer {key}"})).json()
    assert "errors" not in answer, answer
    return answer["data"]


@pytest.mark.parametrize("by", ["contact_id", "phone"])
async def test_a_contact_is_enrolled_by_its_id_or_its_phone(
    platform: httpx2.AsyncClient, make: Callable[..., Any], contact_id: int, pool: Pool, by: str
) -> None:
    sequence_id = await make(STEPS)
    before = datetime.now(UTC)

    whom = {"contact_id": contact_id} if by == "contact_id" else {"phone": "(202) 555-0143"}
    answer = data(await platform.post(ENROLL, json={"sequence_id": sequence_id, **whom}))

    [row] = await SEQUENCE_ENROLLMENTS.read(pool, "id", "next_send_at")
    assert list(answer) == ["enrollment_id", "contact_id", "sequence_id", "sequence_name", "next_send_at"]
    assert answer | {"next_send_at": ""} == {
        "enrollment_id": row["id"],
        "contact_id": contact_id,
        "sequence_id": sequence_id,
        "sequence_name": "Welcome",
        "next_send_at": "",
    }
    due = datetime.fromisoformat(answer["next_send_at"])
    assert answer["next_send_at"].endswith("Z")
    assert abs(due - row["next_send_at"]) < timedelta(milliseconds=1)
    assert timedelta(minutes=30) - timedelta(milliseconds=1) <= due - before <= timedelta(minutes=31)


async def test_enrolling_again_answers_the_enrollment_there_is(
    api: httpx2.AsyncClient, make: Callable[..., Any], contact_id: int, pool: Pool
) -> None:
    body = {"sequence_id": await make(STEPS), "contact_id": contact_id}

    first, again = [data(await api.post(ENROLL, json=body)) for _ in range(2)]

    assert first == again
    assert await SEQUENCE_ENROLLMENTS.count(pool) == 1


async def test_the_same_key_is_answered_the_same_even_when_the_sequence_has_gone_on(
    api: httpx2.AsyncClient, make: Callable[..., Any], contact_id: int, services: Services
) -> None:
    body, keyed = {"sequence_id": await make(AT_ONCE), "contact_id": contact_id}, {"Idempotency-Key": "one"}
    first = await api.post(ENROLL, json=body, headers=keyed)
    drip = open_drip(services)
    while await drip.due():
        await drip.run()

    again = await api.post(ENROLL, json=body, headers=keyed)
    other = await api.post(ENROLL, json=body | {"contact_id": contact_id + 1}, headers=keyed)

    assert data(first) == data(again)
    assert again.headers["idempotent-replayed"] == "true"
    assert refusal(other)[:2] == (422, "idempotency_key_reused")


@pytest.mark.parametrize("whom", [{}, {"contact_id": 1, "phone": PHONE}])
async def test_neither_or_both_of_id_and_phone_are_refused(
    api: httpx2.AsyncClient, make: Callable[..., Any], whom: dict[str, Any]
) -> None:
    answer = await api.post(ENROLL, json={"sequence_id": await make(STEPS), **whom})

    sentence = "Give either the id or the phone of the contact."
    assert refusal(answer) == (422, "invalid_input", sentence)
    assert answer.json()["field"] == "contact_id"


async def test_a_sequence_is_required_and_must_be_there(api: httpx2.AsyncClient, contact_id: int) -> None:
    missing = await api.post(ENROLL, json={"contact_id": contact_id})
    unknown = await api.post(ENROLL, json={"contact_id": contact_id, "sequence_id": 10**12})

    assert refusal(missing) == (422, "invalid_input", "sequence_id is required.")
    assert refusal(unknown) == (404, "not_found", f"No drip sequence with id {10**12}.")


async def test_an_unknown_phone_is_not_found(api: httpx2.AsyncClient, make: Callable[..., Any], pool: Pool) -> None:
    answer = await api.post(ENROLL, json={"sequence_id": await make(STEPS), "phone": PHONE})

    assert refusal(answer) == (404, "not_found", f"No contact with phone {PHONE}.")
    assert await CONTACTS.count(pool) == 0


async def test_an_archived_sequence_enrolls_no_contact(
    api: httpx2.AsyncClient, make: Callable[..., Any], contact_id: int, account: Opened
) -> None:
    sequence_id = await make(STEPS)
    key = account.svc_key
    await ask(api, key, SET_STATUS, id=sequence_id, status="archived")

    answer = await api.post(ENROLL, json={"sequence_id": sequence_id, "contact_id": contact_id})

    sentence = "The drip sequence Welcome is archived and takes no contacts."
    assert refusal(answer) == (409, "conflict", sentence)


@pytest.mark.parametrize(
    ("fact", "code"),
    [({"status": "opted_out"}, "contact_opted_out"), ({"dnd_sms": True}, "contact_dnd")],
)
async def test_a_contact_who_must_not_be_texted_is_not_enrolled(
    api: httpx2.AsyncClient, make: Callable[..., Any], contact_id: int, pool: Pool, fact: dict[str, Any], code: str
) -> None:
    await CONTACTS.change(pool, **fact)

    answer = await api.post(ENROLL, json={"sequence_id": await make(STEPS), "contact_id": contact_id})

    assert refusal(answer)[:2] == (422, code)
    assert await SEQUENCE_ENROLLMENTS.count(pool) == 0


@pytest.fixture
async def harness(services: Services, account: Opened) -> AsyncGenerator[Harness]:
    """Give a subscriber, and what dispatches and delivers."""
    dispatcher = open_dispatcher(services)
    async with receiving() as receiver:
        yield Harness(services, account, receiver, dispatcher, open_delivery_workers(services))


async def test_a_sequence_runs_to_its_end_and_its_end_is_delivered_in_the_shape_of_its_sample(
    platform: httpx2.AsyncClient,
    make: Callable[..., Any],
    contact_id: int,
    harness: Harness,
    work: Callable[[], Any],
    pool: Pool,
) -> None:
    receiver: Receiver = harness.receiver
    body = {"event": "drip_completed", "target_url": receiver.url}
    data(await platform.post("/automation/subscribe", json=body))
    [sample] = (await platform.get("/automation/sample/drip_completed")).json()
    sequence_id = await make(AT_ONCE)
    data(await platform.post(ENROLL, json={"sequence_id": sequence_id, "phone": PHONE}))

    async with harness.at_work():
        await work()
        [post] = await receiver.expect(1)

    assert post.headers["webhook-event"] == "drip_completed"
    assert list(post.body) == list(sample) == list(EVENTS["drip_completed"].example)
    completed_at = datetime.fromisoformat(post.body["completed_at"])
    assert timedelta(0) <= datetime.now(UTC) - completed_at <= timedelta(minutes=5)
    assert post.body | {"completed_at": ""} == {
        "contact_id": contact_id,
        "first_name": "Ann",
        "last_name": "Lee",
        "phone": PHONE,
        "email": "ann@example.com",
        "sequence_id": sequence_id,
        "sequence_name": "Welcome",
        "completed_at": "",
    }
    assert await calls(pool) == [("Welcome, Ann!", 1), ("Blue Door is glad.", 1)]
    assert await event_names(pool, "message_delivered") == ["message_delivered"] * 2
    await audit(pool)


async def test_a_stop_between_two_texts_ends_the_sequence_without_completing_it(
    api: httpx2.AsyncClient, make: Callable[..., Any], contact_id: int, work: Callable[[], Any], pool: Pool
) -> None:
    stopper = data(
        await api.post("/automation/actions/create-contact", json={"phone": "+15005550401", "first_name": "Bo"})
    )
    sequence_id = await make([AT_ONCE[0], {"delay_minutes": 60, "body": "More"}])
    data(await api.post(ENROLL, json={"sequence_id": sequence_id, "contact_id": stopper["id"]}))

    await work()
    await SEQUENCE_ENROLLMENTS.change(pool, next_send_at=ago())
    await work()

    assert [body for body, _ in await calls(pool)][:1] == ["Welcome, Bo!"]
    assert "More" not in [body for body, _ in await calls(pool)]
    row = await SEQUENCE_ENROLLMENTS.only(pool, "status", "exit_reason")
    assert row == ("exited", "contact_opted_out")
    assert await event_names(pool, "drip_completed") == []
