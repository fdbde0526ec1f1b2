"""Prices, as the contract shows them."""

import httpx2
import pytest

from app.domain.billing.prices import ABROAD, GENERATE, TARIFF
from app.services import Services
from tests.factories.accounts import ACCOUNTS, API_KEYS
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
