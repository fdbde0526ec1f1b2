"""Clients as an operator and an account make and end them."""

from dataclasses import replace

import pytest

from app.domain.kernel import plain_names
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.oauth import clients, queries
from app.domain.oauth.clients import NewClient
from app.services import Services
from tests.factories.oauth import OAUTH_CLIENTS, add_clients
from tests.factories.tables import ago

NEW = NewClient("Pipelines", ["https://crm.example.com/callback"])


async def test_a_client_that_was_revoked_itself_cannot_be_taken_over(services: Services, unit: UnitOfWork) -> None:
    client, _ = await clients.create(unit, services.oauth.tokens, NEW)
    creator = client.creator_id
    await clients.revoke(unit, client.id)

    with pytest.raises(Conflict, match=r"^The client is revoked\.$"):
        await clients.take_over(unit, client.id)

    assert client.creator_id == creator


async def test_a_client_has_a_name_that_is_shown_as_it_is(services: Services, unit: UnitOfWork) -> None:
    with pytest.raises(InvalidInput) as refused:
        await clients.create(unit, services.oauth.tokens, replace(NEW, name="Pipe\u202esenil"))

    assert str(refused.value) == plain_names.REASON
    assert await OAUTH_CLIENTS.count(services) == 0


async def test_live_clients_are_listed_first_and_then_the_newest(services: Services, unit: UnitOfWork) -> None:
    made = [await clients.create(unit, services.oauth.tokens, replace(NEW, name=name)) for name in ("1", "2", "3", "4")]
    for client, _ in (made[1], made[3]):
        await clients.revoke(unit, client.id)

    assert [client.name for client in await queries.list_clients(unit)] == ["3", "1", "4", "2"]


async def test_a_list_of_clients_has_every_live_one_and_the_newest_revoked_ones_up_to_its_limit(
    services: Services, unit: UnitOfWork
) -> None:
    oldest, _ = await clients.create(unit, services.oauth.tokens, NEW)
    await add_clients(services, unit.actor.account_id, queries.MAX_SHOWN)
    await OAUTH_CLIENTS.where(name="x").change(services, revoked_at=ago())

    found = await queries.list_clients(unit)

    assert queries.MAX_SHOWN == 500
    assert [client.client_id for client in found] == [oldest.client_id, *(str(number) for number in range(500, 1, -1))]


async def test_one_shared_client_is_revoked_once_and_the_others_stay(services: Services, unit: UnitOfWork) -> None:
    first, _ = await clients.create_shared(unit, services.oauth.tokens, NEW)
    second, _ = await clients.create_shared(unit, services.oauth.tokens, NEW)

    revoked_at = (await clients.revoke_shared(unit, first.id)).revoked_at
    again = await clients.revoke_shared(unit, first.id)

    assert revoked_at is not None
    assert (again.revoked_at, second.revoked_at) == (revoked_at, None)


async def test_only_a_shared_client_is_revoked_as_one(services: Services, unit: UnitOfWork) -> None:
    own, _ = await clients.create(unit, services.oauth.tokens, NEW)

    with pytest.raises(NotFound, match=rf"^No client with id {own.id}\.$"):
        await clients.revoke_shared(unit, own.id)

    assert own.revoked_at is None
