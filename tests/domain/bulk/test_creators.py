"""Jobs end with the credential that created them."""

import pytest

from app.domain.accounts import api_keys
from app.domain.accounts.scopes import ALL
from app.domain.bulk import deletions
from app.domain.bulk.selection import Selection
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs.worker import CREATOR_ENDED
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import API_KEYS, USERS, add_user
from tests.factories.contacts import CONTACTS, add_contacts
from tests.factories.jobs import ACCOUNT_JOBS, advance
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_GRANTS, add_clients
from tests.factories.tables import ago, ahead

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


@pytest.mark.parametrize(
    ("is_rotated_before", "outcome"), [(False, ("done", 50, [])), (True, ("canceled", 20, [CREATOR_ENDED]))]
)
async def test_a_job_of_a_key_goes_on_after_its_revocation_only_if_the_key_was_rotated_after_the_job_began(
    services: Services, account: Opened, *, is_rotated_before: bool, outcome: tuple[str, int, list[str]]
) -> None:
    await add_contacts(services, account.account_id, [f"+1202555{number:04}" for number in range(50)])
    id = min(await API_KEYS.read(services, "id"))

    async def rotate() -> None:
        async with unit_of(services, Actor(account.account_id, ALL)) as unit:
            await api_keys.rotate_key(unit, services.secret, id)

    if is_rotated_before:
        await rotate()
    async with unit_of(services, Actor(account.account_id, frozenset(), f"key:{id}", key_id=id)) as unit:
        await deletions.delete(unit, EVERYONE)
    await advance(services, 1)
    if not is_rotated_before:
        await rotate()
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        await api_keys.revoke_key(unit, id)
    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "status", "done", "problems") == outcome
    assert await CONTACTS.count(services) == 50 - outcome[1]


@pytest.mark.parametrize(
    ("is_newer_ended", "outcome"), [(False, ("done", 50, [])), (True, ("canceled", 20, [CREATOR_ENDED]))]
)
async def test_a_job_of_a_connection_goes_on_with_the_next_one_of_its_user_and_application(
    services: Services, account: Opened, *, is_newer_ended: bool, outcome: tuple[str, int, list[str]]
) -> None:
    await add_contacts(services, account.account_id, [f"+1202555{number:04}" for number in range(50)])
    user_id = await add_user(services, account.account_id, "ann@example.com", role="owner")
    await add_clients(services, account.account_id, 1)
    held = {"account_id": account.account_id, "user_id": user_id, "client_id": await OAUTH_CLIENTS.only(services, "id")}
    held |= {"scopes": ["contacts:delete"], "resource": "http://api", "expires_at": ahead(days=1)}
    first = await OAUTH_GRANTS.insert(services, **held)
    async with unit_of(services, Actor(account.account_id, frozenset(), f"grant:{first}", grant_id=first)) as unit:
        await deletions.delete(unit, EVERYONE)
    await advance(services, 1)

    second = await OAUTH_GRANTS.insert(services, **held, last_used_at=ago())
    await OAUTH_GRANTS.where(id=first).change(services, revoked_at=ago())
    if is_newer_ended:
        await OAUTH_GRANTS.where(id=second).change(services, revoked_at=ago())
    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "status", "done", "problems") == outcome
