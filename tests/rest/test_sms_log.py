"""The specification's chapter on SMS: the log, a test a sentence."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.messages import MESSAGES
from tests.factories.tables import ago
from tests.rest.answers import data, refusal
from tests.rest.sending import TO, receive, send

pytestmark = pytest.mark.anyio
ENTRY = {
    "id": int,
    "direction": str,
    "from_number": str,
    "to_number": str,
    "body": str,
    "status": str,
    "status_description": str | None,
    "error_code": str | None,
    "unconfirmed": bool,
    "segments": int,
    "cost": float,
    "provider_message_id": str | None,
    "contact_id": int,
    "conversation_id": int,
    "created_at": str,
    "sent_at": str | None,
    "delivered_at": str | None,
}
"""The fields of a log entry."""


async def test_the_log_holds_a_sent_message_and_its_outcome(
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


@pytest.mark.parametrize(
    ("status", "hours", "unconfirmed"), [("sent", 71, False), ("sent", 73, True), ("delivered", 73, False)]
)
async def test_a_sent_message_without_a_final_receipt_for_72_hours_is_unconfirmed(
    api: httpx2.AsyncClient, work: Callable[[], Any], services: Services, status: str, hours: int, unconfirmed: bool
) -> None:
    await send(api)
    await work()
    await MESSAGES.change(services, status=status, sent_at=ago(hours=hours))

    [entry] = data(await api.get("/sms/logs"))

    assert (entry["status"], entry["unconfirmed"]) == (status, unconfirmed)


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
