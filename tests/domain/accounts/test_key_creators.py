"""Keys end with what they were made with: a key, an application's grant, a user."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.domain.accounts import api_keys, keys, queries, service, users
from app.domain.accounts.api_keys import KeyCannotCreateKeys, NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import ApiKey, Role
from app.domain.accounts.scopes import ALL, AUTOMATION, GENERAL
from app.domain.accounts.sign_in import authentication
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth import clients, grants
from app.domain.oauth.clients import NewClient
from app.domain.oauth.grants import Consent
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import NOON, SetClock
from tests.factories.accounts import API_KEYS, USERS
from tests.factories.oauth import OAUTH_CLIENTS, OAUTH_GRANTS
from tests.factories.tables import Change, ago

HOUR = timedelta(hours=1)
REDIRECT = "https://crm.example.com/callback"
Make = Callable[..., Awaitable["Key"]]


@dataclass(frozen=True)
class Key:
    """A key and its text."""

    row: ApiKey
    text: str

    @property
    def id(self) -> int:
        return self.row.id

    def bearer(self, scopes: frozenset[str] = ALL) -> Actor:
        """Return who holds the key."""
        return Actor(self.row.account_id, scopes, f"key:{self.id}", key_id=self.id)


@pytest.fixture
def owner(account: Opened) -> Actor:
    """Give the account itself, which nobody can remove."""
    return Actor(account.account_id, ALL, "cli")


@pytest.fixture
def make(services: Services) -> Make:
    """Give a function that makes a key for an actor, an `auto_` key if nothing else is said."""

    async def make_one(actor: Actor, kind: KeyKind = KeyKind.auto, **given: Any) -> Key:
        async with unit_of(services, actor) as unit:
            unit.clock = SetClock()
            return Key(*_text(await api_keys.create_key(unit, services.secret, NewKey("Made", kind, **given))))

    return make_one


def _text(made: api_keys.Made) -> tuple[ApiKey, str]:
    return made[0], made[1].text


async def lives(services: Services, key: Key, now: datetime = NOON) -> bool:
    return await scopes(services, key, now) is not None


async def scopes(services: Services, key: Key, now: datetime = NOON) -> frozenset[str] | None:
    hash = keys.fingerprint(services.secret, key.text)
    found = (await queries.find_live_keys(services.database, [hash], now)).get(hash)
    return found and found.scopes


async def rotate(services: Services, owner: Actor, key: Key, overlap_hours: int) -> Key:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock()
        return Key(*_text(await api_keys.rotate_key(unit, services.secret, key.id, overlap_hours)))


async def revoke(services: Services, owner: Actor, key: Key) -> None:
    async with unit_of(services, owner) as unit:
        await api_keys.revoke_key(unit, key.id)


async def show(services: Services, owner: Actor, key: Key) -> queries.ShownKey:
    async with unit_of(services, owner) as unit:
        return await queries.show_key(unit, key.id)


async def test_a_key_ends_when_the_key_that_made_it_is_revoked(services: Services, owner: Actor, make: Make) -> None:
    parent = await make(owner, KeyKind.svc)
    child, other = await make(parent.bearer()), await make(owner)
    assert await lives(services, child)

    await revoke(services, owner, parent)

    assert (await lives(services, child), await lives(services, other)) == (False, True)
    assert (await show(services, owner, child)).revoked_at == (await show(services, owner, parent)).revoked_at
    assert (await show(services, owner, other)).revoked_at is None


async def test_a_key_made_with_one_that_is_dead_already_never_lives(
    services: Services, owner: Actor, make: Make
) -> None:
    parent = await make(owner, KeyKind.svc)
    await revoke(services, owner, parent)

    child = await make(parent.bearer())

    assert not await lives(services, child)


async def test_a_key_ends_at_the_instant_that_the_key_that_made_it_does(
    services: Services, owner: Actor, make: Make
) -> None:
    parent = await make(owner, KeyKind.svc, expires_at=NOON + HOUR)
    child = await make(parent.bearer())

    assert await lives(services, child, NOON + HOUR - timedelta(microseconds=1))
    assert not await lives(services, child, NOON + HOUR)
    assert (await show(services, owner, child)).expires_at == NOON + HOUR


async def test_a_key_that_ends_before_its_creator_ends_by_itself(services: Services, owner: Actor, make: Make) -> None:
    parent = await make(owner, KeyKind.svc, expires_at=NOON + 2 * HOUR)
    child = await make(parent.bearer(), expires_at=NOON + HOUR)

    assert not await lives(services, child, NOON + HOUR)
    assert (await show(services, owner, child)).expires_at == NOON + HOUR


async def test_the_keys_of_a_rotated_key_go_with_the_new_one(services: Services, owner: Actor, make: Make) -> None:
    parent = await make(owner, KeyKind.svc)
    child = await make(parent.bearer())

    new = await rotate(services, owner, parent, 0)
    assert (await lives(services, parent), await lives(services, child)) == (False, True)

    await revoke(services, owner, new)
    assert not await lives(services, child)


async def test_a_rotated_key_ends_with_the_key_that_created_the_old_one(
    services: Services, owner: Actor, make: Make
) -> None:
    parent = await make(owner, KeyKind.svc)
    child = await make(parent.bearer())
    new = await rotate(services, owner, child, 24)
    assert await lives(services, new)

    await revoke(services, owner, parent)

    assert not await lives(services, new)


async def test_a_key_whose_creator_has_ended_cannot_be_rotated(services: Services, owner: Actor, make: Make) -> None:
    parent = await make(owner, KeyKind.svc)
    child = await make(parent.bearer())
    await revoke(services, owner, parent)

    with pytest.raises(Conflict, match=r"^The key was revoked or has expired. Create a new one.$"):
        await rotate(services, owner, child, 24)

    assert await API_KEYS.where(name="Made").count(services) == 2


async def test_neither_an_auto_key_nor_a_key_made_with_a_key_makes_keys(
    services: Services, owner: Actor, make: Make
) -> None:
    made_with_a_key = await make((await make(owner, KeyKind.svc)).bearer(), KeyKind.svc)

    for key in (await make(owner), made_with_a_key):
        for kind in KeyKind:
            with pytest.raises(KeyCannotCreateKeys):
                await make(key.bearer(), kind)

    assert await API_KEYS.where(name="Made").count(services) == 3


async def test_keys_that_a_user_made_or_made_with_the_users_key_end_with_the_user(
    services: Services, owner: Actor, make: Make
) -> None:
    async with unit_of(services, owner) as unit:
        bob = await service.add_user(unit, "bob@example.com", "secret")
    direct, first = await make(authentication.actor_of(bob)), await make(authentication.actor_of(bob), KeyKind.svc)
    second = await make(first.bearer())
    assert [await lives(services, key) for key in (direct, first, second)] == [True] * 3

    async with unit_of(services, owner) as unit:
        await users.remove(unit, bob.id)

    assert [await lives(services, key) for key in (direct, first, second)] == [False] * 3
    removed_at = await USERS.where(id=bob.id).only(services, "removed_at")
    assert (await show(services, owner, second)).revoked_at == removed_at


async def test_a_users_key_may_do_no_more_than_the_users_role_now(
    services: Services, account: Opened, owner: Actor, make: Make
) -> None:
    async with unit_of(services, owner) as unit:
        bob = await service.add_user(unit, "bob@example.com", "secret")
    key = await make(authentication.actor_of(bob), KeyKind.svc, scopes=["account:write", "contacts:read"])
    assert await scopes(services, key) == {"account:read", "account:write", "contacts:read"}

    async with unit_of(services, owner) as unit:
        await users.change_role(unit, bob.id, Role.member)

    assert await scopes(services, key) == {"account:read", "contacts:read"}
    assert (await show(services, owner, key)).scopes == ["account:read", "contacts:read"]


@pytest.fixture
async def application(services: Services, account: Opened, owner: Actor) -> Actor:
    """Give an application that a member allowed what automations may do, as its access token names it."""
    async with unit_of(services, owner) as unit:
        bob = await service.add_user(unit, "bob@example.com", "secret")
        await users.change_role(unit, bob.id, Role.member)
        client, _ = await clients.create(unit, services.oauth.tokens, NewClient("CRM", [REDIRECT]))
    async with unit_of(services, authentication.actor_of(bob)) as unit:
        consent = Consent(bob.id, AUTOMATION, "https://sms.example.com", REDIRECT, None)
        await grants.allow(unit, services.oauth.tokens, client, consent)
    id = await OAUTH_GRANTS.only(services, "id")
    return Actor(account.account_id, AUTOMATION, f"grant:{id}", user_id=bob.id, grant_id=id)


@pytest.mark.parametrize(
    "end",
    [
        lambda services: OAUTH_GRANTS.change(services, revoked_at=ago()),
        lambda services: OAUTH_GRANTS.change(services, expires_at=ago()),
        lambda services: OAUTH_CLIENTS.change(services, revoked_at=ago()),
        lambda services: USERS.where(email="bob@example.com").change(services, removed_at=ago()),
        OAUTH_GRANTS.delete,
    ],
    ids=["grant revoked", "grant expired", "client revoked", "user removed", "grant deleted"],
)
async def test_a_key_that_an_application_made_ends_with_its_grant(
    services: Services, make: Make, application: Actor, end: Change
) -> None:
    key = await make(application)
    now = services.clock.now()
    assert await scopes(services, key, now) == AUTOMATION < GENERAL

    await end(services)

    assert not await lives(services, key, services.clock.now())


async def test_a_key_that_an_application_made_ends_no_later_than_its_grant(
    services: Services, owner: Actor, make: Make, application: Actor
) -> None:
    key = await make(application)

    ends = await OAUTH_GRANTS.only(services, "expires_at")
    assert (await show(services, owner, key)).expires_at == ends
