"""Jobs end with the credential that created them."""

import pytest

from app.domain.bulk import deletions
from app.domain.bulk.selection import Selection
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs.worker import CREATOR_ENDED
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import USERS, add_user
from tests.factories.contacts import CONTACTS, add_contacts
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.factories.tables import ago

pytestmark = pytest.mark.anyio

EVERYONE = Selection(filter=ContactFilter())


async def test_a_deletion_stops_when_the_user_who_began_it_is_removed(services: Services, account: Opened) -> None:
    await add_contacts(services, account.account_id, [f"+1202555{number:04}" for number in range(50)])
    id = await add_user(services, account.account_id, "ann@example.com", role="owner")
    async with unit_of(services, Actor(account.account_id, frozenset(), f"user:{id}", user_id=id)) as unit:
        await deletions.delete(unit, EVERYONE)

    await advance(services, 1)
    await USERS.where(id=id).change(services, removed_at=ago())
    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "status", "done", "problems") == ("canceled", 20, [CREATOR_ENDED])
    assert await CONTACTS.count(services) == 30
