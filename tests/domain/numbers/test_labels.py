"""Labels of numbers, and the choice of the primary one."""

import asyncio

import pytest

from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.numbers import queries, service
from app.domain.numbers.service import MAX_LABEL
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.carriers import add_smpp_connection
from tests.factories.numbers import PHONE_NUMBERS


async def test_a_number_gets_another_label(account: Opened, unit_for: UnitFor) -> None:
    async with unit_for(account) as unit:
        renamed = await service.rename(unit, account.phone_number_id, "  Front \n desk ")

        assert renamed.label == "Front desk"
        for label in (" ", "x" * (MAX_LABEL + 1)):
            with pytest.raises(InvalidInput, match="label must have from 1 to 100 characters"):
                await service.rename(unit, account.phone_number_id, label)
        with pytest.raises(NotFound):
            await service.rename(unit, 999999999, "Front desk")


async def test_concurrent_choices_leave_exactly_one_primary_number(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        others = [(await service.assign_sandbox_number(unit)).id for _ in range(2)]

    async def choose(id: int) -> None:
        async with unit_for(account) as unit:
            await service.set_primary(unit, id)

    await asyncio.gather(*map(choose, others))

    chosen = await PHONE_NUMBERS.where(is_primary=True).only(services, "id")
    assert chosen in others
    async with unit_for(account) as unit:
        primary = await queries.find_primary(unit)
        assert primary
        assert primary.id == chosen


async def test_a_number_of_the_sandbox_is_not_chosen_over_one_that_reaches_phones(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        other = (await service.assign_sandbox_number(unit)).id
    await add_smpp_connection(services, "main")
    await PHONE_NUMBERS.where(id=account.phone_number_id).change(services, carrier="main")

    async with unit_for(account) as unit:
        with pytest.raises(Conflict, match="A number of the sandbox reaches no phones"):
            await service.set_primary(unit, other)

    assert await PHONE_NUMBERS.where(is_primary=True).only(services, "id") == account.phone_number_id
