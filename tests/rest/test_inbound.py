"""Callbacks of carriers: signed, unsigned, malformed, repeated, and a thousand at once."""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx2
import orjson
import pytest

from app.bootstrap import derive
from app.db.engine import Pool
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.signature import HEADER, TOLERANCE, sign
from app.services import Services
from tests.factories.billing import audit, balance_of
from tests.factories.carriers import MINUTES
from tests.factories.events import event_names
from tests.factories.messages import MESSAGES, UNMATCHED_RECEIPTS
from tests.rest.answers import data, refusal
from tests.rest.callbacks import INBOUND, exchange, kept
from tests.rest.carriers import AT, call

pytestmark = pytest.mark.anyio

FROM = "+12025550143"
STATUS = "/carriers/sandbox/status"
UNSIGNED = (403, "unsigned_callback", "The callback is not signed by the carrier sandbox.")


@pytest.fixture
async def pool(services: Services) -> AsyncGenerator[Pool]:
    """Give the tables; when the test is over, every credit must be accounted for."""
    yield services.database.pool
    await audit(services.database.pool)


@pytest.fixture
def secret(services: Services) -> bytes:
    return derive(services.settings, "sandbox")


@pytest.fixture
def hear(http: httpx2.AsyncClient, secret: bytes, account: Opened) -> Callable[..., Any]:
    """Give a function by which a person texts the account's number."""

    async def hear(text: str = "Hi", **payload: Any) -> httpx2.Response:
        said = {"id": f"sbx_in_{secrets.token_hex(8)}", "from": FROM, "to": account.phone_number, "text": text}
        return await call(http, secret, INBOUND, said | payload)

    return hear


@pytest.fixture
async def sent(api: httpx2.AsyncClient, pool: Pool) -> int:
    """Give the id of a message that the carrier is about to report on."""
    answer = await api.post("/sms/send", json={"to": FROM, "message": "Hello", "consent_attested": True})
    return int(data(answer)["message_id"])


def report(reference: int, status: str, code: str | None = None) -> dict[str, Any]:
    return {"id": f"sbx_{reference}", "reference": reference, "status": status, "code": code}


async def test_a_signed_text_is_kept_and_answered_with_204(
    hear: Callable[..., Any], pool: Pool, account: Opened
) -> None:
    answer = await hear("Héllo 👋")

    assert (answer.status_code, answer.content) == (204, b"")
    message = await MESSAGES.only(pool, "direction", "from_number", "to_number", "body", "status", "sent_at")
    assert message is not None
    assert tuple(message) == ("inbound", FROM, account.phone_number, "Héllo 👋", "received", AT)
    assert await event_names(pool, "new_contact", "new_conversation", "new_message") == [
        "new_contact",
        "new_conversation",
        "new_message",
    ]


async def test_a_text_that_comes_twice_is_kept_once(hear: Callable[..., Any], pool: Pool) -> None:
    answers = [await hear(id="sbx_in_1"), await hear(id="sbx_in_1")]

    assert [answer.status_code for answer in answers] == [204, 204]
    assert await event_names(pool, "new_message") == ["new_message"]


async def test_a_text_that_comes_twice_at_once_is_kept_once(hear: Callable[..., Any], pool: Pool) -> None:
    answers = await asyncio.gather(*(hear(id="sbx_in_1") for _ in range(4)))

    assert [answer.status_code for answer in answers] == [204] * 4
    assert await event_names(pool, "new_message") == ["new_message"]


async def test_a_stop_reply_opts_the_contact_out(hear: Callable[..., Any], api: httpx2.AsyncClient, pool: Pool) -> None:
    await hear("STOP")

    [contact] = data(await api.get("/contacts"))
    assert contact["status"] == "opted_out"
    assert await event_names(pool, "new_opt_out") == ["new_opt_out"]


async def test_a_text_to_an_unassigned_number_is_stored_for_inspection(hear: Callable[..., Any], pool: Pool) -> None:
    answer = await hear("Hi", to="+15002999999")

    assert answer.status_code == 204
    assert await kept(pool) == [("sandbox", "inbound", "Hi")]
    assert await MESSAGES.count(pool) == 0


async def test_a_report_is_applied_and_answered_with_204(
    http: httpx2.AsyncClient, secret: bytes, sent: int, pool: Pool
) -> None:
    answer = await call(http, secret, f"{STATUS}?message={sent}", report(sent, "delivered"))

    assert (answer.status_code, answer.content) == (204, b"")
    assert await MESSAGES.only(pool, "status") == "delivered"


async def test_a_report_of_failure_gives_the_credits_back_once(
    http: httpx2.AsyncClient, secret: bytes, sent: int, pool: Pool
) -> None:
    for _ in range(2):
        await call(http, secret, STATUS, report(sent, "failed", "unreachable"))

    assert await MESSAGES.only(pool, "status", "error_code") == ("failed", "unreachable")
    assert await balance_of(pool) == 1000


async def test_a_report_on_a_message_that_is_not_known_is_kept_for_it(
    http: httpx2.AsyncClient, secret: bytes, pool: Pool
) -> None:
    answer = await call(http, secret, STATUS, report(4711, "delivered"))

    assert answer.status_code == 204
    assert await UNMATCHED_RECEIPTS.only(pool, "provider_message_id") == "sbx_4711"


@pytest.mark.parametrize("path", [INBOUND, STATUS])
@pytest.mark.parametrize(
    "header",
    [
        "",
        "t=1,v1=00",
        "t=now,v1=" + "0" * 64,
        "{now} {digest}",
        "t={now},v1={digest}0",
        "t={later},v1={digest}",
        "t=99999999999,v1={digest}",
        "t=999999999999,v1={digest}",
    ],
)
async def test_an_unsigned_callback_is_refused_with_403_and_not_stored(
    http: httpx2.AsyncClient, services: Services, secret: bytes, pool: Pool, path: str, header: str
) -> None:
    body = orjson.dumps({"id": "sbx_in_1", "from": FROM, "to": "+15002000001", "text": "Hi", "at": AT})
    now, digest = sign(secret, body, time.time()).removeprefix("t=").split(",v1=")
    signed = header.format(now=now, later=int(now) + 1, digest=digest)

    answer = await http.post(path, content=body, headers={HEADER: signed})

    assert refusal(answer) == UNSIGNED
    await services.health.flush()
    assert await MINUTES.read(pool, "result", "skew_seconds") == [("callback_refused", None)]
    assert await kept(pool) == []
    assert await MESSAGES.count(pool) == 0


async def test_a_signature_by_another_key_is_refused(http: httpx2.AsyncClient, services: Services) -> None:
    answer = await call(http, derive(services.settings, "api keys"), INBOUND, b"{}")

    assert refusal(answer) == UNSIGNED


@pytest.mark.parametrize("away", [-TOLERANCE - 60, TOLERANCE + 60])
async def test_a_signature_of_another_time_is_refused_and_its_clock_is_shown(
    http: httpx2.AsyncClient, services: Services, secret: bytes, away: int
) -> None:
    answer = await http.post(INBOUND, content=b"{}", headers={HEADER: sign(secret, b"{}", time.time() + away)})

    await services.health.flush()
    assert refusal(answer) == UNSIGNED
    assert await MINUTES.only(services, "skew_seconds") == pytest.approx(away, abs=30)


@pytest.mark.parametrize("kind", ["inbound", "status"])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"{}", b"\xff\xfe", b'{"id":"\x00"}', b'{"text":"\\ud800"}', b"[" * 5000, b"\x00"],
)
async def test_a_signed_unreadable_callback_is_stored_and_refused_with_422(
    http: httpx2.AsyncClient, secret: bytes, pool: Pool, kind: str, body: bytes
) -> None:
    answer = await call(http, secret, f"/carriers/sandbox/{kind}", body)

    status, code, text = refusal(answer)
    assert (status, code) == (422, "unreadable_callback")
    assert text.startswith("The callback of the carrier sandbox cannot be read, and was stored for inspection: ")
    assert await kept(pool) == [("sandbox", kind, body.decode("utf-8", "replace").replace("\x00", "\ufffd"))]


@pytest.mark.parametrize(
    "payload",
    [
        {"id": ""},
        {"from": ""},
        {"from": None},
        {"to": 15002000001},
        {"text": None},
        {"text": "a\x00b"},
        {"at": "yesterday"},
        {"at": "2026-11-21T09:30:00"},
        {"colour": "blue"},
    ],
)
async def test_an_invalid_text_is_stored_for_inspection(
    hear: Callable[..., Any], pool: Pool, payload: dict[str, Any]
) -> None:
    answer = await hear(**payload)

    assert refusal(answer)[:2] == (422, "unreadable_callback")
    assert len(await kept(pool)) == 1
    assert await MESSAGES.count(pool) == 0


@pytest.mark.parametrize(
    "payload",
    [
        {"reference": 0},
        {"reference": 2**63},
        {"reference": "1"},
        {"status": "received"},
        {"code": "filtered"},
        {"status": "failed"},
        {"status": "failed", "code": "bored"},
    ],
)
async def test_an_invalid_report_is_stored_for_inspection(
    http: httpx2.AsyncClient, secret: bytes, sent: int, pool: Pool, payload: dict[str, Any]
) -> None:
    answer = await call(http, secret, STATUS, report(sent, "delivered") | payload)

    assert refusal(answer)[:2] == (422, "unreadable_callback")
    assert len(await kept(pool)) == 1
    assert await MESSAGES.only(pool, "status") == "pending"


@pytest.mark.parametrize("kind", ["inbound", "status"])
async def test_an_unknown_carrier_is_refused_with_404(http: httpx2.AsyncClient, secret: bytes, kind: str) -> None:
    answer = await call(http, secret, f"/carriers/pigeon/{kind}", b"{}")

    assert refusal(answer) == (404, "not_found", "No carrier with id pigeon.")


async def test_a_callback_of_more_than_256_kib_is_refused_with_413(http: httpx2.AsyncClient, secret: bytes) -> None:
    answer = await call(http, secret, INBOUND, b"x" * 262_145)

    assert refusal(answer) == (413, "body_too_large", "The body is larger than 262144 bytes.")


async def test_callbacks_are_posted(http: httpx2.AsyncClient) -> None:
    answer = await http.get(INBOUND)

    assert refusal(answer)[:2] == (405, "method_not_allowed")


@pytest.mark.parametrize("seed", range(20_261_121, 20_261_126))
async def test_a_thousand_random_callbacks_are_all_answered_and_nothing_signed_is_lost(
    http: httpx2.AsyncClient, secret: bytes, account: Opened, pool: Pool, seed: int
) -> None:
    await exchange(http, secret, account.phone_number, pool, seed, callbacks=200)
