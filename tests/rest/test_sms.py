"""The specification's chapter on SMS, a test a sentence."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx2
import pytest

from app.bootstrap import Services
from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from tests.domain.books import audit
from tests.rest.answers import data, refusal
from tests.rest.carriers import inbound

pytestmark = pytest.mark.anyio

TO = "+12025550143"
SEND = {"to": TO, "message": "Hello", "consent_attested": True}
CONSENT = (
    "Set consent_attested to true to certify that the recipient has given prior express written consent to be texted."
)

ENTRY = {
    "id": int,
    "direction": str,
    "from_number": str,
    "to_number": str,
    "body": str,
    "status": str,
    "status_description": str | None,
    "error_code": str | None,
    "segments": int,
    "cost": float,
    "provider_message_id": str | None,
    "contact_id": int,
    "conversation_id": int,
    "created_at": str,
    "sent_at": str | None,
    "delivered_at": str | None,
}
"""What an entry of the log holds."""

WRITTEN = "SELECT (SELECT count(*) FROM messages), (SELECT count(*) FROM contacts), (SELECT count(*) FROM consents)"


@pytest.fixture
async def pool(services: Services) -> AsyncGenerator[Pool]:
    """Give the tables; when the test is over, every credit must be accounted for."""
    yield services.database.pool
    await audit(services.database.pool)


async def send(api: httpx2.AsyncClient, **wishes: Any) -> Any:
    return data(await api.post("/sms/send", json=SEND | wishes))


async def nothing_happened(pool: Pool) -> bool:
    """Tell whether no message, contact, consent or debit was written."""
    return tuple(await pool.fetchrow(WRITTEN) or ()) == (0, 0, 0) and await entries(pool) == 1


async def entries(pool: Pool) -> int:
    """Count the ledger; the starter credits are its first entry."""
    return await pool.fetchval("SELECT count(*) FROM ledger_entries")


async def receive(services: Services, account: Opened, text: str, from_number: str = TO) -> None:
    await services.inbox.receive("sandbox", inbound(from_number, account.phone_number, text))


async def test_a_send_answers_a_string_id_the_segments_pending_and_what_is_left(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    answer = await send(api)

    id = await pool.fetchval("SELECT id FROM messages")
    assert answer == {"message_id": str(id), "segments": 1, "status": "pending", "credits_remaining": 999}
    assert type(answer["credits_remaining"]) is int


async def test_a_send_leaves_from_the_primary_number_of_the_account(
    api: httpx2.AsyncClient, account: Opened, pool: Pool
) -> None:
    await send(api)

    kept = await pool.fetchrow("SELECT account_id, from_number, to_number, body, direction, status FROM messages")
    assert kept is not None
    assert tuple(kept) == (account.account_id, account.phone_number, TO, "Hello", "outbound", "pending")


async def test_a_send_leaves_from_the_number_that_it_names(
    api: httpx2.AsyncClient, account: Opened, pool: Pool
) -> None:
    id = await pool.fetchval(
        "INSERT INTO phone_numbers (account_id, phone_number, carrier, label)"
        " VALUES ($1, '+15002009999', 'sandbox', 'Second') RETURNING id",
        account.account_id,
    )

    await send(api, from_phone_number_id=id)

    assert await pool.fetchval("SELECT from_number FROM messages") == "+15002009999"


async def test_a_number_of_another_account_is_not_found(
    api: httpx2.AsyncClient, new_account: Callable[..., Any], pool: Pool
) -> None:
    other = await new_account()

    answer = await api.post("/sms/send", json=SEND | {"from_phone_number_id": other.phone_number_id})

    text = f"No active phone number with id {other.phone_number_id}."
    assert refusal(answer) == (404, "not_found", text)
    assert await pool.fetchval("SELECT count(*) FROM messages") == 0


async def test_each_segment_costs_a_credit(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await send(api, message="x" * 161)

    assert (answer["segments"], answer["credits_remaining"]) == (2, 998)
    entry = await pool.fetchrow("SELECT type, amount, message_id FROM ledger_entries ORDER BY id DESC LIMIT 1")
    assert entry is not None
    assert tuple(entry) == ("debit", -2, int(answer["message_id"]))


@pytest.mark.parametrize(("character", "segments"), [("x", 11), ("\u00e7", 24)])
async def test_a_message_may_have_1600_characters(
    api: httpx2.AsyncClient, pool: Pool, character: str, segments: int
) -> None:
    answer = await send(api, message=character * 1600)

    assert (answer["segments"], answer["credits_remaining"]) == (segments, 1000 - segments)
    assert await pool.fetchval("SELECT body FROM messages") == character * 1600


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

    consent = await pool.fetchrow("SELECT phone, kind, method, message_id FROM consents")
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
        ({"to": TO, "message": "a\x00b"}, "invalid_input"),
        ({"to": TO, "message": "Hello", "from_phone_number_id": "one"}, "invalid_input"),
        ({"to": "", "message": "Hello"}, "invalid_phone"),
        ({"to": "nobody", "message": "Hello"}, "invalid_phone"),
        ({"to": "+1202555014", "message": "Hello"}, "invalid_phone"),
        ({"to": "+442071838750", "message": "Hello"}, "landline"),
    ],
)
async def test_what_cannot_be_sent_is_refused_with_422(
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
        f"{TO} has opted out and cannot be texted",
    )
    assert await entries(pool) == 1
    assert await pool.fetchval("SELECT count(*) FROM messages WHERE body = 'Hello'") == 0


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
    assert await pool.fetchval("SELECT count(*) FROM messages") == 1
    assert await entries(pool) == 2


async def test_an_idempotency_key_is_good_for_one_request(api: httpx2.AsyncClient, pool: Pool) -> None:
    headers = {"Idempotency-Key": "order-77"}
    await api.post("/sms/send", json=SEND, headers=headers)

    answer = await api.post("/sms/send", json=SEND | {"message": "Goodbye"}, headers=headers)

    assert refusal(answer)[:2] == (422, "idempotency_key_reused")
    assert await pool.fetchval("SELECT count(*) FROM messages") == 1


async def test_the_log_holds_what_was_sent_and_what_came_of_it(
    api: httpx2.AsyncClient, work: Callable[[], Any], account: Opened
) -> None:
    sent = await send(api)
    await work()

    [entry] = data(await api.get("/sms/logs"))

    assert list(entry) == list(ENTRY)
    assert [name for name, kind in ENTRY.items() if not isinstance(entry[name], kind)] == []
    said = {name: entry[name] for name in ("id", "direction", "from_number", "to_number", "body", "status", "cost")}
    assert said == {
        "id": int(sent["message_id"]),
        "direction": "outbound",
        "from_number": account.phone_number,
        "to_number": TO,
        "body": "Hello",
        "status": "delivered",
        "cost": 0.01,
    }
    assert entry["created_at"] <= entry["sent_at"] <= entry["delivered_at"]


async def test_the_log_says_why_a_message_failed_and_that_it_cost_nothing(
    api: httpx2.AsyncClient, work: Callable[[], Any]
) -> None:
    await send(api, to="+15005550001")
    await work()

    [entry] = data(await api.get("/sms/logs"))

    assert (entry["status"], entry["error_code"], entry["cost"]) == ("failed", "invalid_number", 0)
    assert entry["status_description"].endswith(".")
    assert data(await api.get("/billing/balance"))["balance"] == 1000


async def test_the_log_is_empty_at_first(api: httpx2.AsyncClient) -> None:
    answer = await api.get("/sms/logs")

    assert data(answer) == []
    assert answer.headers["x-total-count"] == "0"
    assert "link" not in answer.headers


async def test_the_log_shows_the_newest_first_50_unless_another_limit_is_asked_for(api: httpx2.AsyncClient) -> None:
    for number in range(51):
        await send(api, message=f"Text {number}")

    answer = await api.get("/sms/logs")
    three = data(await api.get("/sms/logs?limit=3"))

    assert [entry["body"] for entry in data(answer)] == [f"Text {number}" for number in range(50, 0, -1)]
    assert answer.headers["x-total-count"] == "51"
    assert answer.headers["link"] == '</sms/logs?limit=50&offset=50>; rel="next"'
    assert [entry["body"] for entry in three] == ["Text 50", "Text 49", "Text 48"]


async def test_the_log_leaves_out_as_many_as_the_offset_says(api: httpx2.AsyncClient) -> None:
    for number in range(5):
        await send(api, message=f"Text {number}")

    middle = await api.get("/sms/logs?limit=2&offset=2&direction=outbound")
    beyond = await api.get("/sms/logs?offset=5")

    assert [entry["body"] for entry in data(middle)] == ["Text 2", "Text 1"]
    assert middle.headers["x-total-count"] == "5"
    assert middle.headers["link"] == (
        '</sms/logs?limit=2&offset=4&direction=outbound>; rel="next", '
        '</sms/logs?limit=2&offset=0&direction=outbound>; rel="prev"'
    )
    assert data(beyond) == []


async def test_the_log_can_be_asked_for_one_status(api: httpx2.AsyncClient, work: Callable[[], Any]) -> None:
    await send(api, message="Arrives")
    await send(api, message="Fails", to="+15005550001")
    await work()
    await send(api, message="Waits")

    found = {status: data(await api.get(f"/sms/logs?status={status}")) for status in ("pending", "delivered", "failed")}

    assert {status: [entry["body"] for entry in entries] for status, entries in found.items()} == {
        "pending": ["Waits"],
        "delivered": ["Arrives"],
        "failed": ["Fails"],
    }


async def test_the_log_can_be_asked_for_one_direction(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    await send(api, message="Out")
    await receive(services, account, "In")

    found = [data(await api.get(f"/sms/logs?direction={direction}")) for direction in ("outbound", "inbound")]

    assert [[(entry["body"], entry["status"]) for entry in entries] for entries in found] == [
        [("Out", "pending")],
        [("In", "received")],
    ]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=201", "limit=-1", "limit=ten", "offset=-1", "status=queued", "direction=sideways"]
)
async def test_a_log_that_cannot_be_given_is_refused_with_422(api: httpx2.AsyncClient, query: str) -> None:
    answer = await api.get(f"/sms/logs?{query}")

    status, code, text = refusal(answer)
    assert (status, code) == (422, "invalid_input")
    assert query.partition("=")[0] in text


async def test_the_log_may_show_200_at_once(api: httpx2.AsyncClient) -> None:
    assert data(await api.get("/sms/logs?limit=200")) == []


async def test_the_log_holds_nothing_of_another_account(
    api: httpx2.AsyncClient, new_account: Callable[..., Any]
) -> None:
    await send(api)
    other = await new_account()

    answer = await api.get("/sms/logs", headers={"Authorization": f"Bearer {other.svc_key}"})

    assert data(answer) == []


async def test_generated_copy_is_an_array_of_texts_and_costs_one_credit(api: httpx2.AsyncClient, pool: Pool) -> None:
    texts = data(await api.post("/sms/generate", json={"description": "20% off all haircuts this Friday"}))

    assert len(texts) == 3
    assert [text for text in texts if "20% off all haircuts this Friday" not in text or "STOP" not in text] == []
    assert all("{first_name}" in text for text in texts)
    entry = await pool.fetchrow("SELECT type, amount, balance_after FROM ledger_entries ORDER BY id DESC LIMIT 1")
    assert entry is not None
    assert tuple(entry) == ("debit", -1, 999)


@pytest.mark.parametrize("body", [{}, {"description": None}, {"description": ""}, {"description": "x" * 1001}])
async def test_copy_without_a_description_is_refused_and_costs_nothing(
    api: httpx2.AsyncClient, pool: Pool, body: dict[str, Any]
) -> None:
    answer = await api.post("/sms/generate", json=body)

    assert refusal(answer)[:2] == (422, "invalid_input")
    assert await entries(pool) == 1


async def test_copy_that_the_balance_does_not_cover_is_refused_with_402(
    http: httpx2.AsyncClient, new_account: Callable[..., Any], pool: Pool
) -> None:
    poor = await new_account(credits=0)

    answer = await http.post("/sms/generate", json={"description": "A sale"}, headers={"X-API-Key": poor.svc_key})

    assert refusal(answer)[:2] == (402, "insufficient_credits")
    assert await entries(pool) == 0


async def test_copy_that_is_asked_for_again_with_its_idempotency_key_is_paid_once(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    headers, body = {"Idempotency-Key": "copy-1"}, {"description": "A sale"}

    first = await api.post("/sms/generate", json=body, headers=headers)
    again = await api.post("/sms/generate", json=body, headers=headers)

    assert data(again) == data(first)
    assert again.headers["idempotent-replayed"] == "true"
    assert await entries(pool) == 2
