"""The search for duplicates in accounts with many contacts."""

import pytest
from sqlalchemy.dialects import postgresql

from app.domain.contacts import duplicates
from app.domain.contacts.duplicates import DuplicateKind
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.plans import NO_SORTS, plan_when_new

pytestmark = pytest.mark.anyio


async def test_of_many_contacts_with_one_address_the_ten_oldest_are_found(
    unit: UnitOfWork, services: Services, account: Opened
) -> None:
    owner = {"account_id": account.account_id, "email": "all@example.com"}
    ids = [await CONTACTS.insert(services, phone=f"+120255501{number}", **owner) for number in range(10, 22)]

    [found] = await duplicates.find(unit, DuplicateKind.email, None, 20, None)

    assert [contact.id for contact in found.contacts] == ids[:10]


async def test_duplicates_by_address_are_found_in_the_index_alone(services: Services) -> None:
    query = duplicates.groups(1, DuplicateKind.email, "", "").limit(20)
    written = query.compile(dialect=postgresql.dialect(), compile_kwargs={"literal_binds": True})

    assert "Index Only Scan using ix_contacts_emails" in await plan_when_new(
        services.database.pool, CONTACTS, str(written), settings=[NO_SORTS]
    )
