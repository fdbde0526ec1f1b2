"""The specification's chapter on billing, a test a sentence."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from app.services import Services
from tests.factories.billing import LEDGER_DAYS
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

SEND = {"to": "+12025550143", "message": "Hello", "consent_attested": True}


async def test_the_balance_states_credits_rate_account_type_and_days_left(api: httpx2.AsyncClient) -> None:
    balance = data(await api.get("/billing/balance"))

    assert balance == {
        "balance": 1000,
        "rate": 0.01,
        "account_type": "prepaid",
        "daily_avg_send": 0,
        "estimated_days_left": 9999,
    }
    assert [type(value) for value in balance.values()] == [int, float, str, int, int]


async def test_the_days_left_are_the_balance_by_the_daily_average(
    api: httpx2.AsyncClient, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.post("/sms/send", json=SEND | {"message": "Hello" * 300})
    midnight = services.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    then = midnight - timedelta(days=2)
    await LEDGER_DAYS.where(type="debit").change(services, day=then.date(), first_text_at=then)
    monkeypatch.setattr(services.clock, "now", lambda: midnight + timedelta(hours=12))

    balance = data(await api.get("/billing/balance"))

    assert (balance["balance"], balance["daily_avg_send"], balance["estimated_days_left"]) == (990, 5, 198)


async def test_an_account_that_holds_nothing_lasts_no_day(
    http: httpx2.AsyncClient, new_account: Callable[..., Any]
) -> None:
    poor = await new_account(credits=0)

    balance = data(await http.get("/billing/balance", headers={"X-API-Key": poor.svc_key}))

    assert (balance["balance"], balance["estimated_days_left"]) == (0, 0)


async def test_the_transactions_are_every_change_of_the_balance_the_newest_first(
    api: httpx2.AsyncClient, work: Callable[[], Any]
) -> None:
    sent = data(await api.post("/sms/send", json=SEND | {"to": "+15005550001"}))
    await work()
    await api.post("/sms/generate", json={"description": "A sale"})

    entries = data(await api.get("/billing/transactions"))

    id = int(sent["message_id"])
    assert [
        {name: value for name, value in entry.items() if name not in ("id", "created_at")} for entry in entries
    ] == [
        _entry("debit", -1, 999, "Message copy"),
        _entry("refund", 1, 1000, "Message failed: invalid_number", id),
        _entry("debit", -1, 999, f"Message {id}", id),
        _entry("adjustment", 1000, 1000, "Starter credits"),
    ]
    assert sorted((entry["id"] for entry in entries), reverse=True) == [entry["id"] for entry in entries]
    assert all(entry["created_at"].endswith("Z") for entry in entries)


def _entry(type: str, amount: int, balance_after: int, description: str, message_id: int | None = None) -> Any:
    return {
        "type": type,
        "amount": amount,
        "balance_after": balance_after,
        "message_id": message_id,
        "description": description,
    }


async def test_transactions_come_20_at_a_time_unless_another_limit_is_asked_for(api: httpx2.AsyncClient) -> None:
    for _ in range(20):
        await api.post("/sms/send", json=SEND)

    answer = await api.get("/billing/transactions")
    rest = await api.get("/billing/transactions?limit=2&offset=19")

    assert [entry["balance_after"] for entry in data(answer)] == list(range(980, 1000))
    assert (answer.headers["x-total-count"], answer.headers["link"]) == (
        "21",
        '</billing/transactions?limit=20&offset=20>; rel="next"',
    )
    assert [entry["type"] for entry in data(rest)] == ["debit", "adjustment"]
    assert rest.headers["link"] == '</billing/transactions?limit=2&offset=17>; rel="prev"'


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=some", "offset=-1"])
async def test_transactions_that_cannot_be_given_are_refused_with_422(api: httpx2.AsyncClient, query: str) -> None:
    answer = await api.get(f"/billing/transactions?{query}")

    assert refusal(answer)[:2] == (422, "invalid_input")


async def test_an_account_sees_its_own_balance_and_transactions_alone(
    api: httpx2.AsyncClient, new_account: Callable[..., Any]
) -> None:
    await api.post("/sms/send", json=SEND)
    other = await new_account(credits=7)
    headers = {"Authorization": f"Bearer {other.svc_key}"}

    balance = data(await api.get("/billing/balance", headers=headers))
    entries = data(await api.get("/billing/transactions", headers=headers))

    assert balance["balance"] == 7
    assert [entry["amount"] for entry in entries] == [7]
