"""The specification's chapter on SMS, a test a sentence."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.messages import MESSAGES, id_of_message
from tests.factories.numbers import add_number
from tests.rest.answers import data, refusal
from tests.rest.sending import SEND, TO, entries, receive, send

pytestmark = pytest.mark.anyio
CONSENT = (
    "Set consent_attested to true to certify that the recipient has given prior express written consent to be texted."
)


@pytest.fixture
async def pool(services: Services) -> AsyncGenerator[Pool]:
    """Give the tables; when the test is over, every credit must be accounted for."""
    yield services.database.pool
    await audit(services.database.pool)


async def nothing_happened(pool: Pool) -> bool:
    """Return whether no message, contact, consent or debit was written."""
    written = [await rows.count(pool) for rows in (MESSAGES, CONTACTS, CONSENTS)]
    return written == [0, 0, 0] and await entries(pool) == 1


async def test_a_send_answers_a_string_id_the_segments_the_status_and_the_remaining_credits(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    answer = await send(api)

    id = await id_of_message(pool)
    assert answer == {"message_id": str(id), "segments": 1, "status": "pending", "credits_remaining": 999}
    assert type(answer["credits_remaining"]) is int


async def test_a_send_leaves_from_the_primary_number_of_the_account(
    api: httpx2.AsyncClient, account: Opened, pool: Pool
) -> None:
    await send(api)

    kept = await MESSAGES.only(pool, "account_id", "from_number", "to_number", "body", "direction", "status")
    assert kept is not None
    assert kept == (account.account_id, account.phone_number, TO, "Hello", "outbound", "pending")


async def test_a_send_leaves_from_the_number_that_it_names(
    api: httpx2.AsyncClient, account: Opened, pool: Pool
) -> None:
    id = await add_number(pool, account.account_id, "+15002009999", "Second")

    await send(api, from_phone_number_id=id)

    assert await MESSAGES.only(pool, "from_number") == "+15002009999"


async def test_a_number_of_another_account_is_not_found(
    api: httpx2.AsyncClient, new_account: Callable[..., Any], pool: Pool
) -> None:
    other = await new_account()

    answer = await api.post("/sms/send", json=SEND | {"from_phone_number_id": other.phone_number_id})

    text = f"No active phone number with id {other.phone_number_id}."
    assert refusal(answer) == (404, "not_found", text)
    assert await MESSAGES.count(pool) == 0


async def test_each_segment_costs_a_credit(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await send(api, message="x" * 161)

    assert (answer["segments"], answer["credits_remaining"]) == (2, 998)
    entry = await LEDGER_ENTRIES.last(pool, "type", "amount", "message_id")
    assert entry == ("debit", -2, int(answer["message_id"]))


@pytest.mark.parametrize(("character", "segments"), [("x", 11), ("\u00e7", 24)])
async def test_a_message_may_have_1600_characters(
    api: httpx2.AsyncClient, pool: Pool, character: str, segments: int
) -> None:
    answer = await send(api, message=character * 1600)

    assert (answer["segments"], answer["credits_remaining"]) == (segments, 1000 - segments)
    assert await MESSAGES.only(pool, "body") == character * 1600


async def test_a_message_of_1601_characters_is_refused(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await api.post("/sms/send", json=SEND | {"message": "x" * 1601})

    text = "The message has 1601 characters; at most 1600 can be sent. Shorten it or send it in two."
    assert refusal(answer) == (422, "message_too_long", text)
    assert await nothing_happened(pool)


@pytest.mark.parametrize("attested", [False, None, "true", "", 1, 0, 1.0, [True], {"is": True}, "\x00"])
async def test_consent_is_attested_by_true_alone_and_anything_else_is_refused_with_403(
    api: httpx2.AsyncClient, pool: Pool, attested: Any
) -> None:
    answer = await api.post("/sms/send", json=SEND | {"consent_attested": attested})

    assert refusal(answer) == (403, "api_consent_attested_required", CONSENT)
    assert await nothing_happened(pool)


async def test_a_send_without_attested_consent_is_refused_with_403(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await api.post("/sms/send", json={"to": TO, "message": "Hello"})

    assert refusal(answer) == (403, "api_consent_attested_required", CONSENT)
    assert await nothing_happened(pool)


async def test_a_send_records_the_attested_consent(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await send(api)

    consent = await CONSENTS.only(pool, "phone", "kind", "method", "message_id")
    assert consent is not None
    assert tuple(consent) == (TO, "attested", "api_attestation", int(answer["message_id"]))


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"message": "Hello"}, "invalid_input"),
        ({"to": TO}, "invalid_input"),
        ({"to": None, "message": "Hello"}, "invalid_input"),
        ({"to": 12025550143, "message": "Hello"}, "invalid_input"),
        ({"to": TO, "message": 7}, "invalid_input"),
        ({"to": TO, "message": ""}, "invalid_input"),
        ({"to": TO, "message": " \n "}, "invalid_input"),
        ({"to": TO, "message": "\u200b\ufe0f"}, "invalid_input"),
        ({"to": TO, "message": "a\x00b"}, "invalid_input"),
        ({"to": TO, "message": "Hello", "from_phone_number_id": "one"}, "invalid_input"),
        ({"to": "", "message": "Hello"}, "invalid_phone"),
        ({"to": "nobody", "message": "Hello"}, "invalid_phone"),
        ({"to": "+1202555014", "message": "Hello"}, "invalid_phone"),
        ({"to": "+442071838750", "message": "Hello"}, "landline"),
    ],
)
async def test_an_invalid_send_is_refused_with_422(
    api: httpx2.AsyncClient, pool: Pool, body: dict[str, Any], code: str
) -> None:
    answer = await api.post("/sms/send", json=body | {"consent_attested": True})

    assert refusal(answer)[:2] == (422, code)
    assert await nothing_happened(pool)


async def test_a_send_that_the_balance_does_not_cover_is_refused_with_402(
    http: httpx2.AsyncClient, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=1)

    answer = await http.post("/sms/send", json=SEND | {"message": "x" * 161}, headers={"X-API-Key": poor.svc_key})

    text = "Not enough credits: 2 needed, 1 left. Add credits and try again."
    assert refusal(answer) == (402, "insufficient_credits", text)
    assert await nothing_happened(pool)


async def test_a_send_to_a_phone_that_opted_out_is_refused_and_nothing_is_debited(
    api: httpx2.AsyncClient, services: Services, account: Opened, pool: Pool
) -> None:
    await receive(services, account, "STOP")

    answer = await api.post("/sms/send", json=SEND)

    status, code, text = refusal(answer)
    assert (status, code, text.partition(".")[0]) == (
        422,
        "contact_opted_out",
        "The recipient has opted out and cannot be texted",
    )
    assert await entries(pool) == 1
    assert await MESSAGES.where(body="Hello").count(pool) == 0


async def test_a_send_to_a_contact_on_do_not_disturb_is_refused(api: httpx2.AsyncClient, pool: Pool) -> None:
    await api.post("/contacts", json={"phone": TO, "dnd_sms": True})

    answer = await api.post("/sms/send", json=SEND)

    assert refusal(answer)[:2] == (422, "contact_dnd")
    assert await entries(pool) == 1


async def test_a_send_that_is_repeated_with_its_idempotency_key_is_answered_again_and_not_sent_again(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    headers = {"Idempotency-Key": "order-77"}

    first = await api.post("/sms/send", json=SEND, headers=headers)
    again = await api.post("/sms/send", json=SEND, headers=headers)

    assert data(again) == data(first)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert await MESSAGES.count(pool) == 1
    assert await entries(pool) == 2


async def test_an_idempotency_key_is_good_for_one_request(api: httpx2.AsyncClient, pool: Pool) -> None:
    headers = {"Idempotency-Key": "order-77"}
    await api.post("/sms/send", json=SEND, headers=headers)

    answer = await api.post("/sms/send", json=SEND | {"message": "Goodbye"}, headers=headers)

    assert refusal(answer)[:2] == (422, "idempotency_key_reused")
    assert await MESSAGES.count(pool) == 1
