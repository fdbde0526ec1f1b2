"""Contacts that other systems add or change by phone."""

import asyncio

import pytest

from app.domain.contacts import queries, service
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.traps import until_blocked
from tests.waiting import within


async def test_a_contact_without_a_phone_is_neither_added_nor_changed(services: Services, unit: UnitOfWork) -> None:
    with pytest.raises(InvalidInput, match="phone is required"):
        await service.upsert(unit, {"first_name": "Ann"}, "crm")

    assert await CONTACTS.count(services) == 0


async def test_a_contact_that_another_deletes_meanwhile_is_a_conflict(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        contact = await service.create(unit, {"phone": "+12025550143"})

    async def upsert() -> None:
        async with unit_for(account) as unit:
            await service.upsert(unit, {"phone": "+12025550143", "first_name": "Ann"}, "crm")

    async with unit_for(account) as unit:
        locked = await queries.get(unit, contact.id, lock=True)
        late = asyncio.create_task(upsert())
        await until_blocked(services.database.pool)
        await unit.delete(locked)

    with pytest.raises(Conflict, match=r"The contact with \+12025550143 was deleted. Try again."):
        await within("the upsert to end", late)
    assert await CONTACTS.count(services) == 0
