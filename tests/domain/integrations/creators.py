"""Creators of integrations that can come to an end: a key, a user, and the connection of an application."""

from datetime import timedelta

from app.domain.accounts import api_keys, users
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.scopes import ALL
from app.domain.grants.models import Client, Grant
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.oauth import grants
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import add_user, id_of_user

CREATORS = ("key", "user", "grant")


async def add_creator(services: Services, account_id: int, kind: str) -> Actor:
    """Return the actor of a new creator of a kind."""
    if kind == "user":
        return Actor(account_id, ALL, "test", user_id=await add_user(services, account_id, "bob@example.com"))
    async with unit_of(services, Actor(account_id, ALL, "test")) as unit:
        if kind == "grant":
            return Actor(account_id, ALL, "test", grant_id=await _add_grant(services, unit))
        key, _ = await api_keys.create_key(unit, services.secret, NewKey("Stolen"))
        return Actor(account_id, ALL, "test", key_id=key.id)


async def end_creator(services: Services, creator: Actor) -> None:
    """Revoke the key, remove the user, or disconnect the application."""
    async with unit_of(services, Actor(creator.account_id, ALL, "test")) as unit:
        if creator.key_id:
            await api_keys.revoke_key(unit, creator.key_id)
        elif creator.grant_id:
            await grants.revoke(unit, creator.grant_id)
        else:
            assert creator.user_id
            await users.remove(unit, creator.user_id)


async def _add_grant(services: Services, unit: UnitOfWork) -> int:
    client = Client(client_id="c", kind="managed", name="Zaps", redirect_uris=[], scopes=[], auth_method="none")
    client.created_by = "test"
    await unit.save(client)
    grant = Grant(account_id=unit.actor.account_id, user_id=await id_of_user(services), client_id=client.id, scopes=[])
    grant.resource, grant.expires_at = "", unit.clock.now() + timedelta(days=1)
    await unit.save(grant)
    return grant.id
