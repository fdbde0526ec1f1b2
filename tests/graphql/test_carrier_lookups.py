"""Looking a phone up at a carrier, through the contract."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.services import Services
from tests.factories.carriers import add_connection
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

LOOK_UP = """
query ($through: String) {
  carrier_lookup(phone: "+12025550143", through_connection: $through) { source e164 line_type region can_be_texted }
}
"""
FOUND = {"e164": "+12025550143", "line_type": "unknown", "region": "US", "can_be_texted": True}


@pytest.mark.parametrize(("through", "source"), [(None, "offline"), ("sandbox", "carrier")])
async def test_a_carrier_is_asked_only_through_a_connection(
    api: httpx2.AsyncClient, through: str | None, source: str
) -> None:
    answer = await post(api, {"query": LOOK_UP, "variables": {"through": through}})

    assert answer.json()["data"]["carrier_lookup"] == {"source": source, **FOUND}


async def test_a_connection_of_another_account_is_not_found(
    api: httpx2.AsyncClient, services: Services, new_account: Callable[..., Any]
) -> None:
    await add_connection(services, "theirs", account_id=(await new_account()).account_id)

    assert codes(await post(api, {"query": LOOK_UP, "variables": {"through": "theirs"}})) == ["not_found"]
