"""The specification's chapter on actions: send-sms, which answers when the carrier has the text."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.unit_of_work import Actor
from app.domain.numbers import service as numbers
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.factories.accounts import API_KEYS
from tests.factories.billing import audit, entries
from tests.factories.contacts import CONSENTS, suppress
from tests.factories.events import event_names, payloads
from tests.factories.messages import calls, id_of_message, states
from tests.factories.numbers import add_number
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

SEND = "/automation/actions/send-sms"
TO, INVALID, UNHEARD = "+12025550143", "+15005550001", "+15005550302"
HELLO = {"to": TO, "message": "Hello"}
FOREVER = 10**12


@pytest.fixture
def timeout() -> float:
    """Return how many seconds a carrier has."""
    return 10


@pytest.fixture
def settings(settings: Settings, timeout: float) -> Settings:
    """Return settings under which a carrier has the usual time, unless a test says otherwise."""
    return settings.model_copy(update={"handoff_timeout_seconds": timeout, "handoff_lease_seconds": 30})


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


async def test_a_text_that_its_number_delays_for_long_is_refused_with_a_time_to_wait_and_not_debited(
    platform: httpx2.AsyncClient, account: Opened, services: Services, pool: Pool
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        await numbers.set_pace(unit, account.phone_number_id, 0.01)
    await platform.post(SEND, json=HELLO)

    answer = await platform.post(SEND, json=HELLO)

    assert refusal(answer)[:2] == (429, "number_busy")
    assert 40 < int(answer.headers["retry-after"]) <= 100
    assert len(await states(pool)) == 1


async def test_a_text_is_sent_when_it_is_answered(platform: httpx2.AsyncClient, account: Opened, pool: Pool) -> None:
    answer = data(await platform.post(SEND, json=HELLO))

    id = await id_of_message(pool)
    assert answer == {
        "message_id": str(id),
        "to": TO,
        "from": account.phone_number,
        "segments": 1,
        "status": "sent",
    }
    assert list(answer) == ["message_id", "to", "from", "segments", "status"]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_the_credits_are_debited_before_the_carrier_is_called(api: httpx2.AsyncClient, pool: Pool) -> None:
    long = data(await api.post(SEND, json={"to": TO, "message": "A" * 161}))

    assert long["segments"] == 2
    assert await entries(pool) == [("debit", -2, 998)]
    await audit(pool)


async def test_the_credits_are_refunded_when_the_carrier_fails_and_the_error_says_why(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    answer = await api.post(SEND, json={"to": INVALID, "message": "Hello"})

    id = await id_of_message(pool)
    assert refusal(answer) == (
        422,
        "carrier_refused",
        f"Message {id} was not sent (invalid_number). The number does not exist or is no longer in service. Correct "
        "the contact's phone, or delete the contact. Its credits were refunded.",
    )
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    [failed] = await payloads(pool, "message_failed")
    assert (failed["message_id"], failed["cost"]) == (id, 0.0)
    await audit(pool)


@pytest.mark.parametrize("timeout", [0.3])
async def test_a_text_that_the_carrier_does_not_answer_for_is_not_refunded_and_not_sent_again(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    answer = await api.post(SEND, json={"to": UNHEARD, "message": "Hello"})

    id = await id_of_message(pool)
    status, code, text = refusal(answer)
    assert (status, code) == (504, "carrier_timeout")
    assert text.startswith(f"The carrier has not confirmed message {id} yet. Do not send it again")
    assert "retry-after" not in answer.headers
    assert await states(pool) == [("pending", None)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_the_first_active_number_sends_if_none_is_named(
    api: httpx2.AsyncClient, account: Opened, services: Services
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        second = await numbers.assign_sandbox_number(unit, "Second")

    default = data(await api.post(SEND, json=HELLO))
    named = data(await api.post(SEND, json=HELLO | {"from_phone_number_id": second.id}))

    assert (default["from"], named["from"]) == (account.phone_number, second.phone_number)


async def test_sending_attests_consent_by_the_use_of_the_integration(platform: httpx2.AsyncClient, pool: Pool) -> None:
    answer = data(await platform.post(SEND, json=HELLO))

    key = await API_KEYS.where(last_four=_key(platform)[-4:]).only(pool, "id")
    recorded = await CONSENTS.read(pool, "phone", "kind", "method", "message_id", "actor")
    assert recorded == [(TO, "attested", "automation_attestation", int(answer["message_id"]), f"key:{key}")]


async def test_over_graphql_nothing_is_sent_unless_consent_is_certified(api: httpx2.AsyncClient, pool: Pool) -> None:
    query = 'mutation { send_message_now(to: "+12025550143", body: "Hello") { message_id } }'

    answer = (await api.post("/graphql", json={"query": query})).json()

    assert answer["errors"][0]["extensions"]["code"] == "api_consent_attested_required"
    assert (await states(pool), await calls(pool)) == ([], [])


def _key(client: httpx2.AsyncClient) -> str:
    return client.headers["authorization"].removeprefix("Bearer ")


async def test_a_send_emits_events_of_the_new_contact_conversation_and_message(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    data(await api.post(SEND, json=HELLO))

    names = ("new_contact", "new_conversation", "message_sent", "message_failed")
    assert sorted(await event_names(pool, *names)) == ["message_sent", "new_contact", "new_conversation"]


async def test_the_same_key_is_answered_the_same_and_sends_once(api: httpx2.AsyncClient, pool: Pool) -> None:
    keyed = {"Idempotency-Key": "one"}

    answers = [await api.post(SEND, json=HELLO, headers=keyed) for _ in range(2)]

    assert data(answers[0]) == data(answers[1])
    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true"]
    assert await calls(pool) == [("Hello", 1)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_of_a_header_that_is_sent_twice_the_first_one_counts(api: httpx2.AsyncClient, pool: Pool) -> None:
    first, second = ("Idempotency-Key", "one"), ("idempotency-key", "two")
    answers = [await api.post(SEND, json=HELLO, headers=keyed) for keyed in ([first, second], [first], [second])]

    assert [answer.headers.get("idempotent-replayed") for answer in answers] == [None, "true", None]
    assert await calls(pool) == [("Hello", 1), ("Hello", 1)]


async def test_the_same_key_for_another_text_is_refused(api: httpx2.AsyncClient, pool: Pool) -> None:
    keyed = {"Idempotency-Key": "one"}
    data(await api.post(SEND, json=HELLO, headers=keyed))

    answer = await api.post(SEND, json=HELLO | {"message": "Other"}, headers=keyed)

    assert refusal(answer)[:2] == (422, "idempotency_key_reused")
    assert await calls(pool) == [("Hello", 1)]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"message": "Hello"}, 422, "invalid_input"),
        ({"to": TO}, 422, "invalid_input"),
        ({"to": TO, "message": ""}, 422, "invalid_input"),
        ({"to": "12", "message": "Hello"}, 422, "invalid_phone"),
        ({"to": TO, "message": "A" * 1601}, 422, "message_too_long"),
        (HELLO | {"from_phone_number_id": FOREVER}, 404, "not_found"),
    ],
)
async def test_an_invalid_send_is_refused_and_costs_nothing(
    api: httpx2.AsyncClient, pool: Pool, body: Any, status: int, code: str
) -> None:
    answer = await api.post(SEND, json=body)

    assert refusal(answer)[:2] == (status, code)
    assert (await states(pool), await entries(pool), await calls(pool)) == ([], [], [])


async def test_an_opted_out_recipient_is_not_texted(
    api: httpx2.AsyncClient, services: Services, account: Opened, pool: Pool
) -> None:
    await suppress(pool, account.account_id, TO)

    answer = await api.post(SEND, json=HELLO)

    assert refusal(answer)[:2] == (422, "contact_opted_out")
    assert (await states(pool), await calls(pool)) == ([], [])


async def test_without_credits_nothing_is_sent(
    http: httpx2.AsyncClient, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=0)

    answer = await http.post(SEND, json=HELLO, headers={"X-API-Key": poor.auto_key})

    assert refusal(answer)[:2] == (402, "insufficient_credits")
    assert (await states(pool), await calls(pool)) == ([], [])


async def test_twenty_at_once_are_each_sent_once_and_paid_once(api: httpx2.AsyncClient, pool: Pool) -> None:
    answers = await asyncio.gather(*(api.post(SEND, json=HELLO | {"message": f"Text {n:02}"}) for n in range(20)))

    assert len({data(answer)["message_id"] for answer in answers}) == 20
    assert sorted(await calls(pool)) == [(f"Text {n:02}", 1) for n in range(20)]
    assert (await entries(pool))[-1] == ("debit", -1, 980)
    await audit(pool)


async def test_a_text_without_a_number_leaves_from_the_first_active_one_whichever_the_contact_wrote_to(
    platform: httpx2.AsyncClient, account: Opened, services: Services, pool: Pool
) -> None:
    await add_number(pool, account.account_id, "+15002999999")
    await services.inbox.receive("sandbox", InboundMessage("in-1", TO, "+15002999999", "Hello"))

    answer = data(await platform.post(SEND, json=HELLO))

    assert answer["from"] == account.phone_number
