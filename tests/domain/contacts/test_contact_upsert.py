"""Contacts that other systems add or change by phone."""

import pytest

from app.domain.contacts import service
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.services import Services
from tests.factories.contacts import CONTACTS


async def test_a_contact_without_a_phone_is_neither_added_nor_changed(services: Services, unit: UnitOfWork) -> None:
    with pytest.raises(InvalidInput, match="phone is required"):
        await service.upsert(unit, {"first_name": "Ann"}, "crm")

    assert await CONTACTS.count(services) == 0
