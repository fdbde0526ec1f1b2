"""The numbers that an account sends from."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.carriers import queries as carriers
from app.domain.kernel import phone
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import connections
from app.domain.numbers import queries, senders, service
from app.domain.numbers.models import NumberStatus, PhoneNumber
from app.domain.numbers.senders import NewNumber
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.carriers import add_connection, add_smpp_connection
from tests.factories.numbers import add_number


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


@pytest.fixture
async def main(services: Services) -> None:
    """Add a connection to phones."""
    await add_smpp_connection(services, "main")


async def add(services: Services, unit: UnitOfWork, number: str, key: str = "main") -> PhoneNumber:
    """Add a number of a connection to the account."""
    connection = await carriers.get_any(unit, key)
    return await senders.add(unit, services.carriers, connection, NewNumber(number, is_vouched=True))


async def primaries(unit: UnitOfWork) -> list[str]:
    return [number.carrier for number in await queries.list_active(unit) if number.is_primary]


@pytest.mark.usefixtures("main")
async def test_the_first_number_at_a_carrier_takes_the_place_of_the_one_of_the_sandbox(
    services: Services, account: Opened, unit: UnitOfWork
) -> None:
    real = await add(services, unit, "+14155550100")
    second = await add(services, unit, "+14155550101")
    taken = real.is_primary, second.is_primary, await primaries(unit)

    await senders.release(unit, real.id)
    following = second.is_primary
    await service.move(unit, second, await carriers.get_any(unit, "sandbox"))
    moved = await primaries(unit)
    await senders.release(unit, second.id)

    assert (taken, following, moved) == ((True, False, ["main"]), True, ["sandbox"])
    assert [each.id for each in await queries.list_active(unit) if each.is_primary] == [account.phone_number_id]


@pytest.mark.usefixtures("main")
async def test_a_number_that_is_moved_from_the_sandbox_to_a_carrier_gets_a_pace(
    account: Opened, unit: UnitOfWork
) -> None:
    number = await queries.find(unit, account.phone_number_id)
    assert number is not None

    await service.move(unit, number, await carriers.get_any(unit, "main"))

    assert (number.parts_per_second, await primaries(unit)) == (1.0, ["main"])


async def test_numbers_that_the_carrier_does_not_list_are_neither_added_nor_moved_unless_vouched_for(
    services: Services, account: Opened, unit: UnitOfWork
) -> None:
    await add_connection(services, "listing", settings={"numbers": ["+14155550100"]})
    services.connections.expire()
    listing, ports = await carriers.get_any(unit, "listing"), services.carriers

    with pytest.raises(InvalidInput, match=r"of listing does not list \+14155550101 among the numbers"):
        await senders.add(unit, ports, listing, NewNumber("+14155550101"))
    with pytest.raises(InvalidInput, match=r"does not list \+15002"):
        await connections.move_number(unit, ports, account.phone_number_id, listing)
    before = [each.carrier for each in await queries.list_active(unit)]
    await senders.add(unit, ports, listing, NewNumber("+14155550100"))
    await senders.add(unit, ports, listing, NewNumber("+14155550101", is_vouched=True))
    await connections.move_number(unit, ports, account.phone_number_id, listing, is_vouched=True)

    assert before == ["sandbox"]
    assert [each.carrier for each in await queries.list_active(unit)] == ["listing"] * 3


@pytest.mark.usefixtures("main")
async def test_a_number_that_is_refused_changes_no_primary_number(
    services: Services, account: Opened, new_account: Callable[..., Any], unit: UnitOfWork
) -> None:
    other = await new_account(company_name="Other")
    await add_number(services, other.account_id, "+14155550100", carrier="main")

    with pytest.raises(Conflict):
        await add(services, unit, "+14155550100")

    assert await primaries(unit) == ["sandbox"]
