"""The specification's chapter on SMS: generated copy, a test a sentence."""

from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx2
import pytest

from app.db.engine import Pool
from app.domain.writing.drafting import NO_AI
from app.services import Services
from tests.factories.billing import LEDGER_ENTRIES, audit
from tests.rest.answers import data, refusal
from tests.rest.sending import entries

pytestmark = pytest.mark.anyio


@pytest.fixture
async def pool(services: Services) -> AsyncGenerator[Pool]:
    """Give the tables; when the test is over, every credit must be accounted for."""
    yield services.database.pool
    await audit(services.database.pool)


async def test_generated_copy_is_an_array_of_texts_and_costs_one_credit(api: httpx2.AsyncClient, pool: Pool) -> None:
    answer = await api.post("/sms/generate", json={"description": "20% off all haircuts this Friday"})

    texts = data(answer)
    assert len(texts) == 3
    named = {name: value for name, value in answer.headers.items() if name.startswith("x-copy")}
    assert named == {"x-copy-provider": "template", "x-copy-notice": NO_AI}
    assert [text for text in texts if "20% off all haircuts this Friday" not in text or "STOP" not in text] == []
    assert all("{first_name}" in text for text in texts)
    entry = await LEDGER_ENTRIES.last(pool, "type", "amount", "balance_after")
    assert entry == ("debit", -1, 999)


@pytest.mark.parametrize("body", [{}, {"description": None}, {"description": ""}, {"description": "x" * 1001}])
async def test_copy_without_a_description_is_refused_and_costs_nothing(
    api: httpx2.AsyncClient, pool: Pool, body: dict[str, Any]
) -> None:
    answer = await api.post("/sms/generate", json=body)

    assert refusal(answer)[:2] == (422, "invalid_input")
    assert await entries(pool) == 1


async def test_an_instruction_that_templates_cannot_follow_is_refused_for_free(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    answer = await api.post("/sms/generate", json={"description": "make it funny: dentist cleaning reminder"})

    code, reason = refusal(answer)[:2]
    assert (code, reason) == (422, "brief_not_understood")
    assert "MESSAGING_AI_MODEL" in answer.json()["error"]
    assert await entries(pool) == 1


async def test_a_brief_whose_texts_would_take_too_many_parts_is_refused_for_free_without_an_ai(
    api: httpx2.AsyncClient, pool: Pool
) -> None:
    long = "The café opens with crêpes, ĺ and " + "more dishes of the house, " * 36

    answer = await api.post("/sms/generate", json={"description": long[:1000]})

    assert refusal(answer)[:2] == (422, "brief_not_understood")
    assert "SMS parts; the limit is 10" in answer.json()["error"]
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
