"""Resources of a unit of work during a slow call."""

from app.domain.accounts import queries
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import UnitOfWork
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.traps import open_transactions


async def test_a_pause_ends_the_transaction_of_a_unit_that_only_read(services: Services, unit: UnitOfWork) -> None:
    await queries.list_users(unit)
    open_before = await open_transactions(services.database.pool)

    await unit.pause()

    assert (open_before, await open_transactions(services.database.pool)) == (1, 0)


async def test_a_pause_commits_nothing_of_a_unit_that_has_written(services: Services, unit: UnitOfWork) -> None:
    await contacts.create(unit, {"phone": "+12025550143"})

    await unit.pause()

    assert await CONTACTS.count(services) == 0
    assert await open_transactions(services.database.pool) == 1


async def test_a_pause_of_a_unit_without_statements_opens_no_transaction(services: Services, unit: UnitOfWork) -> None:
    await unit.pause()

    assert await open_transactions(services.database.pool) == 0
