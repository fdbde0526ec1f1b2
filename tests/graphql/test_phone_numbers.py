"""The paces of sending numbers, through the contract."""

from typing import Any

import httpx2
import pytest

from app.domain.numbers.paces import default_pace
from tests.graphql.calls import codes, post

pytestmark = pytest.mark.anyio

LIST = "{ phone_numbers { id carrier parts_per_second } }"
SET = """
mutation ($id: BigInt!, $pace: Float) {
  set_phone_number_pace(id: $id, parts_per_second: $pace) { id parts_per_second }
}
"""


async def only(api: httpx2.AsyncClient) -> Any:
    [number] = (await post(api, {"query": LIST})).json()["data"]["phone_numbers"]
    return number


async def set_pace(api: httpx2.AsyncClient, id: int, pace: float | None) -> httpx2.Response:
    return await post(api, {"query": SET, "variables": {"id": id, "pace": pace}})


async def test_a_sandbox_number_has_no_pace_unless_one_is_set(api: httpx2.AsyncClient) -> None:
    number = await only(api)
    assert number["parts_per_second"] is None

    answer = await set_pace(api, number["id"], 2.5)

    assert answer.json()["data"]["set_phone_number_pace"] == {"id": number["id"], "parts_per_second": 2.5}
    assert (await only(api))["parts_per_second"] == 2.5


async def test_a_pace_of_null_is_the_default_of_the_kind_of_number(api: httpx2.AsyncClient) -> None:
    number = await only(api)
    await set_pace(api, number["id"], 2.5)

    await set_pace(api, number["id"], None)

    assert (await only(api))["parts_per_second"] is None


@pytest.mark.parametrize("pace", [0, -1, 0.009, 1000.1])
async def test_a_pace_beyond_the_limits_is_refused(api: httpx2.AsyncClient, pace: float) -> None:
    number = await only(api)

    answer = await set_pace(api, number["id"], pace)

    [error] = answer.json()["errors"]
    assert error["message"] == "parts_per_second must be from 0.01 to 1000."
    assert error["extensions"]["field"] == "parts_per_second"
    assert (await only(api))["parts_per_second"] is None


async def test_the_pace_of_an_unknown_number_is_not_found(api: httpx2.AsyncClient) -> None:
    assert codes(await set_pace(api, 10**9, 1)) == ["not_found"]


@pytest.mark.parametrize(
    ("number", "carrier", "pace"),
    [
        ("+12025550143", "twilio", 1),
        ("+447911123456", "twilio", 1),
        ("+18335550143", "twilio", 3),
        ("72345", "twilio", 100),
        ("+15002000001", "sandbox", None),
    ],
)
def test_the_default_pace_follows_from_the_kind_of_number(number: str, carrier: str, pace: float | None) -> None:
    assert default_pace(number, carrier) == pace
