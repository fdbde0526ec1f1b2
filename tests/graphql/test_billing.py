"""Prices and transactions, as the contract shows them."""

import httpx2
import pytest

from app.domain.billing.prices import ABROAD, GENERATE, TARIFF
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS, API_KEYS
from tests.factories.billing import debit_at
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

PRICES = "{ tariff { rate currency destinations { calling_code segment } other_destinations generated_copy } }"


async def test_the_tariff_has_the_prices_of_the_account(api: httpx2.AsyncClient, services: Services) -> None:
    await ACCOUNTS.change(services, region="GB", currency="EUR", rate=0.02)

    tariff = (await post(api, {"query": PRICES})).json()["data"]["tariff"]

    assert {each["calling_code"]: each["segment"] for each in tariff.pop("destinations")} == TARIFF | {"44": 1}
    assert tariff == {"rate": 0.02, "currency": "EUR", "other_destinations": ABROAD, "generated_copy": GENERATE}


async def test_prices_are_read_with_the_scope_for_billing(api: httpx2.AsyncClient, services: Services) -> None:
    await API_KEYS.change(services, scopes=["account:read"])

    assert codes(await post(api, {"query": PRICES})) == ["insufficient_scope"]


async def test_a_balance_has_the_currency_of_its_rate(api: httpx2.AsyncClient) -> None:
    shown = (await post(api, {"query": "{ balance { rate currency } }"})).json()

    assert shown == {"data": {"balance": {"rate": 0.01, "currency": "USD"}}}


async def test_transactions_of_a_campaign_are_those_of_its_texts(
    api: httpx2.AsyncClient, services: Services, account: Opened
) -> None:
    campaign_id = await CAMPAIGNS.insert(
        services, account_id=account.account_id, name="", body="", audience={}, created_by=""
    )
    await CAMPAIGN_RECIPIENTS.insert(
        services, campaign_id=campaign_id, account_id=account.account_id, state="sent", message_id=7
    )
    for message_id in (6, 7):
        await debit_at(services, account.account_id, message_id, services.clock.now(), message_id)

    query = "query ($id: BigInt!) { transactions(campaign_id: $id) { nodes { amount message_id } total_count } }"
    shown = (await post(api, {"query": query, "variables": {"id": campaign_id}})).json()
    other = (await post(api, {"query": query, "variables": {"id": campaign_id + 1}})).json()

    assert shown == {"data": {"transactions": {"nodes": [{"amount": -7, "message_id": 7}], "total_count": 1}}}
    assert other == {"data": {"transactions": {"nodes": [], "total_count": 0}}}
