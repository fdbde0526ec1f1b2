"""The lives of bookings in all orders of arrival; `make test` tries those that suffice for any few events."""

from collections.abc import Callable
from typing import Any

import pytest

from app.services import Services
from tests.domain.integrations.conftest import open_office
from tests.domain.integrations.lives import EVERY, LIVES, live

pytestmark = pytest.mark.anyio

AT_ONCE = 120


@pytest.mark.parametrize("works_between", [True, False], ids=["one by one", "together"])
@pytest.mark.parametrize(
    ("title", "start"), [(title, start) for title, orders in EVERY.items() for start in range(0, len(orders), AT_ONCE)]
)
async def test_a_life_in_every_order_of_arrival_gives_the_texts_that_a_person_expects(
    services: Services, new_account: Callable[..., Any], title: str, start: int, works_between: bool
) -> None:
    async with open_office(services, await new_account(credits=10_000)) as office:
        await live(office, LIVES[title], EVERY[title][start:][:AT_ONCE], works_between=works_between)
