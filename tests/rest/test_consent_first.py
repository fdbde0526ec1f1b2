"""A text that is sent through the API without attested consent is refused for that, whatever else is wrong with it."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.accounts import api_keys
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import Scope
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opening, open_account
from app.services import Services
from tests.conftest import unit_of
from tests.factories.billing import balance_of
from tests.factories.contacts import CONTACTS
from tests.factories.messages import MESSAGES
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

TO = "+12025550143"
SEND = {"to": TO, "message": "Hello", "consent_attested": True}
REFUSED = (403, "api_consent_attested_required")


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"to": TO},
        {"message": "Hello"},
        {"to": "", "message": ""},
        {"to": None, "message": None},
        {"to": 7, "message": ["x"]},
        {"to": "nobody", "message": "x" * 1601, "from_phone_number_id": "one"},
        {"consent": True, "consent_attested ": True},
    ],
)
@pytest.mark.parametrize("attested", ["left out", None, False, "true", 1, [True]])
async def test_consent_is_asked_for_before_anything_else_of_the_body(
    api: httpx2.AsyncClient, pool: Pool, body: dict[str, Any], attested: Any
) -> None:
    said = {} if attested == "left out" else {"consent_attested": attested}

    assert refusal(await api.post("/sms/send", json=body | said))[:2] == REFUSED
    assert await MESSAGES.count(pool) + await CONTACTS.count(pool) == 0
    assert await balance_of(pool) == 1000


async def test_no_body_at_all_attests_nothing(api: httpx2.AsyncClient) -> None:
    assert refusal(await api.post("/sms/send"))[:2] == REFUSED


@pytest.mark.parametrize("body", [b"{", b"[]", b'"text"', b"null", b"to=1"])
async def test_a_body_that_cannot_be_read_is_refused_for_that(api: httpx2.AsyncClient, body: bytes) -> None:
    answer = await api.post("/sms/send", content=body, headers={"Content-Type": "application/json"})

    assert refusal(answer)[:2] == (400, "invalid_json")


async def test_authorization_is_checked_before_consent(http: httpx2.AsyncClient, services: Services) -> None:
    opening = Opening("Blue Door", "owner@example.com", services.settings.rate, 1000, services.secret)
    async with unit_of(services, Actor(0, frozenset())) as unit:
        account = await open_account(unit, opening)
    reader = Actor(account.account_id, frozenset({Scope.messages_read}))
    async with unit_of(services, reader) as unit:
        new = NewKey("reader", scopes=[Scope.messages_read])
        _, key = await api_keys.create_key(unit, services.secret, new)

    answer = await http.post("/sms/send", json={}, headers={"X-API-Key": key.text})

    assert refusal(answer)[:2] == (403, "insufficient_scope")
    assert refusal(await http.post("/sms/send", json={}))[:2] == (401, "unauthenticated")


async def test_an_idempotency_key_replays_a_send_but_not_a_refusal(
    api: httpx2.AsyncClient, pool: Pool, work: Callable[[], Any]
) -> None:
    key = {"Idempotency-Key": "once"}
    assert refusal(await api.post("/sms/send", json={}, headers=key))[:2] == REFUSED

    first = await api.post("/sms/send", json=SEND, headers=key)
    await work()
    again = await api.post("/sms/send", json=SEND, headers=key)

    assert data(again) == data(first)
    assert again.headers["idempotent-replayed"] == "true"
    assert refusal(await api.post("/sms/send", json=SEND | {"consent_attested": None}, headers=key))[:2] == REFUSED
    assert await MESSAGES.count(pool) == 1
