"""The numbers that an account sends from."""

from collections.abc import Callable
from typing import Any

from app.domain.kernel import phone
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries, service
from app.domain.numbers.models import NumberStatus
from app.domain.onboarding.service import Opened
from tests.domain.conftest import UnitFor


async def test_a_sandbox_number_is_of_a_range_that_no_carrier_serves(unit: UnitOfWork) -> None:
    number = await service.assign_sandbox_number(unit, "Second")

    assert number.phone_number == f"+{15_002_000_000 + number.id}"
    assert phone.normalize(number.phone_number) == number.phone_number
    assert (number.label, number.carrier, number.status) == ("Second", "sandbox", "active")


async def test_the_first_number_is_the_primary_one_and_stays_it(account: Opened, unit: UnitOfWork) -> None:
    second = await service.assign_sandbox_number(unit)

    primary = await queries.find_primary(unit)

    assert primary is not None
    assert (primary.id, primary.is_primary, second.is_primary) == (account.phone_number_id, True, False)


async def test_active_numbers_are_listed_the_primary_one_first(account: Opened, unit: UnitOfWork) -> None:
    second, third, fourth = [await service.assign_sandbox_number(unit) for _ in range(3)]
    first = await queries.find_primary(unit)
    assert first is not None
    first.is_primary, second.status = False, NumberStatus.released
    await unit.save(first, second)
    fourth.is_primary = True
    await unit.save(fourth)

    assert [number.id for number in await queries.list_active(unit)] == [fourth.id, first.id, third.id]


async def test_an_account_whose_numbers_are_released_has_no_primary_one(unit: UnitOfWork) -> None:
    number = await queries.find_primary(unit)
    assert number is not None
    number.status = NumberStatus.released
    await unit.save(number)

    assert await queries.find_primary(unit) is None


async def test_each_account_has_numbers_of_its_own(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    other = await new_account()

    async with unit_for(other) as unit:
        assert [number.phone_number for number in await queries.list_active(unit)] == [other.phone_number]
    assert other.phone_number != account.phone_number
