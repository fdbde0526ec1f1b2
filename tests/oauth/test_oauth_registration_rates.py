"""How many clients strangers may bring: limited for each network, so that few cannot use it up for all."""

import pytest
from starlette.requests import Request

from app.bootstrap import Services
from app.domain.kernel.errors import RateLimited
from app.oauth.limit import REGISTRATIONS, check_rate

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("fresh_rates")]


async def bring(services: Services, address: str) -> bool:
    try:
        await check_rate(services, Request({"type": "http", "client": (address, 1)}))
    except RateLimited:
        return False
    return True


async def test_a_few_networks_cannot_use_up_what_others_may_bring(services: Services) -> None:
    for number in range(8):
        for _ in range(REGISTRATIONS.quota + 5):
            await bring(services, f"2001:db8:{number:x}::1")

    assert await bring(services, "2001:db8:ffff::1")
    assert await bring(services, "192.0.2.1")


async def test_all_prefixes_of_one_provider_s_customer_share_four_times_as_much(services: Services) -> None:
    brought = [await bring(services, f"2001:db8:1:{number:x}::1") for number in range(200)]

    assert brought[:80] == [True] * 80
    assert False in brought
