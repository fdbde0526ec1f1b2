"""The passages of an AI agent's knowledge, which only a caller who may read agents is shown."""

import httpx2
import pytest

from app.domain.accounts.api_keys import NewKey, create_key
from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.billing import LEDGER_ENTRIES
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

TRY = 'mutation { test_ai_agent(id: 1, body: "Hi") { reply passages { text } } }'
SUGGEST = "mutation { suggest_reply(conversation_id: 1) { body passages { text } } }"


@pytest.mark.parametrize("query", [TRY, SUGGEST])
async def test_passages_are_not_shown_to_a_caller_who_may_not_read_agents(
    http: httpx2.AsyncClient, services: Services, account: Opened, query: str
) -> None:
    before = await LEDGER_ENTRIES.count(services)
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        scopes = sorted(ALL - {"agents:read", "agents:write"})
        _, key = await create_key(unit, services.secret, NewKey("Shop", scopes=scopes))

    answer = await post(http, {"query": query}, Authorization=f"Bearer {key.text}")

    assert codes(answer) == ["insufficient_scope"]
    assert "agents:read" in answer.text
    assert await LEDGER_ENTRIES.count(services) == before
