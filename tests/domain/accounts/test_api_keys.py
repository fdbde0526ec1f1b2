"""Making, finding and revoking API keys."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.domain.accounts import api_keys, keys, queries
from app.domain.accounts.api_keys import MAX_LIVE, NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import AccountStatus
from app.domain.accounts.queries import KnownKey
from app.domain.accounts.scopes import ALL, AUTOMATION, AUTOMATION_LIMIT, GENERAL, Scope
from app.domain.kernel import plain_names
from app.domain.kernel.errors import Conflict, InsufficientScope, InvalidInput
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import NOON, SetClock
from tests.factories.accounts import API_KEYS, multiply_keys

SECRET = b"secret"
SECOND = timedelta(seconds=1)


@pytest.fixture
def owner(account: Opened) -> Actor:
    """Give an actor that may do anything."""
    return Actor(account.account_id, ALL, "user:1")


async def test_a_key_is_stored_as_its_fingerprint_and_shown_once(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        key, text = await api_keys.create_key(unit, SECRET, NewKey(" Shop ", expires_at=NOON.replace(year=2999)))

    row = await API_KEYS.where(id=key.id).only(services)
    assert (row["name"], row["account_id"], row["created_by"]) == ("Shop", owner.account_id, "user:1")
    assert (row["hash"], row["prefix"], row["last_four"]) == (
        keys.fingerprint(SECRET, text.text),
        text.text[:8],
        text.text[-4:],
    )
    assert (row["expires_at"], row["last_used_at"], row["revoked_at"]) == (NOON.replace(year=2999), None, None)
    assert text.text not in str(dict(row))


@pytest.mark.parametrize(
    ("kind", "held", "given"),
    [
        (KeyKind.svc, ALL, GENERAL),
        (KeyKind.auto, ALL, AUTOMATION),
        (KeyKind.svc, {"account:write", "contacts:read"}, {"contacts:read"}),
        (KeyKind.auto, {"ai:use", "contacts:read"}, {"contacts:read"}),
    ],
)
async def test_a_key_is_given_the_usual_scopes_that_its_creator_holds(
    services: Services, account: Opened, kind: KeyKind, held: Any, given: Any
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(held))) as unit:
        key, text = await api_keys.create_key(unit, SECRET, NewKey("Shop", kind))

    assert key.scopes == sorted(given)
    assert text.text.startswith(f"{kind}_")


def test_a_general_key_may_do_all_but_change_the_account_and_the_billing() -> None:
    assert (len(ALL), ALL - GENERAL) == (20, {"account:write", "billing:write"})
    assert AUTOMATION < GENERAL


async def test_a_key_may_be_given_fewer_scopes(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        some, _ = await api_keys.create_key(unit, SECRET, NewKey("Some", scopes=["ai:use", "account:write", "ai:use"]))

    assert some.scopes == ["account:write", "ai:use"]


@pytest.mark.parametrize(
    ("kind", "scope"),
    [(KeyKind.svc, "contacts:paint"), (KeyKind.auto, "agents:read"), (KeyKind.auto, "contacts:delete")],
)
async def test_a_key_cannot_have_a_scope_beyond_its_kind(
    services: Services, owner: Actor, kind: KeyKind, scope: str
) -> None:
    known = ", ".join(sorted(api_keys.LIMITS[kind]))

    async with unit_of(services, owner) as unit:
        with pytest.raises(InvalidInput, match=f"^{kind}_ keys cannot have the scope {scope}. Choose from: {known}.$"):
            await api_keys.create_key(unit, SECRET, NewKey("Shop", kind, ["contacts:read", scope]))

        assert len(await queries.list_keys(unit)) == 2


async def test_an_actor_cannot_grant_a_scope_it_lacks(services: Services, account: Opened) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset({Scope.contacts_read}))) as unit:
        with pytest.raises(InsufficientScope, match=r"^This needs the scope ai:use\. "):
            await api_keys.create_key(unit, SECRET, NewKey("Shop", scopes=["contacts:read", "ai:use"]))

        assert len(await queries.list_keys(unit)) == 2


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (NewKey(" "), "name must have 1 to 100 characters."),
        (NewKey("x" * 101), "name must have 1 to 100 characters."),
        (NewKey("Shop\n(ended)"), plain_names.REASON),
        (NewKey("Shop", scopes=[]), "scopes must name at least one scope. Leave them out for the default ones."),
        (NewKey("Shop", expires_at=NOON), "expires_at must be in the future."),
        (NewKey("Shop", expires_at=NOON - SECOND), "expires_at must be in the future."),
    ],
)
async def test_a_key_needs_a_name_a_scope_and_a_time_to_live(
    services: Services, owner: Actor, wanted: NewKey, reason: str
) -> None:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock()

        with pytest.raises(InvalidInput) as refused:
            await api_keys.create_key(unit, SECRET, wanted)

        assert (str(refused.value), len(await queries.list_keys(unit))) == (reason, 2)


async def test_live_keys_are_listed_first_and_then_the_newest(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock()
        revoked, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop"))
        await api_keys.create_key(unit, SECRET, NewKey("Till", expires_at=NOON + SECOND))
        rotated, _ = await api_keys.create_key(unit, SECRET, NewKey("Robot"))
        await api_keys.rotate_key(unit, SECRET, rotated.id)
        await api_keys.revoke_key(unit, revoked.id)
        unit.clock = SetClock(NOON + SECOND)

        names = [each.name for each in await queries.list_keys(unit)]

    assert names == ["Robot", "Automation", "First key", "Robot", "Till", "Shop"]


async def test_an_account_has_no_more_live_keys_than_a_list_shows(services: Services, owner: Actor) -> None:
    await multiply_keys(services, MAX_LIVE)
    async with unit_of(services, owner) as unit:
        with pytest.raises(Conflict, match=r"^An account has at most 500 live keys\. Revoke one first\.$"):
            await api_keys.create_key(unit, SECRET, NewKey("Shop"))
        keys = await queries.list_keys(unit)
        assert (len(keys), MAX_LIVE < queries.MAX_SHOWN) == (MAX_LIVE, True)

        await api_keys.revoke_key(unit, keys[0].id)
        await api_keys.create_key(unit, SECRET, NewKey("Shop"))

        assert [key.name for key in await queries.list_keys(unit)][:1] == ["Shop"]


async def test_keys_are_found_by_their_ids(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        first, second = await queries.list_keys(unit)

        assert await queries.find_keys(unit, [first.id]) == {first.id: first}
        assert await queries.find_keys(unit, [first.id, second.id, 10**12]) == {first.id: first, second.id: second}


async def test_a_live_key_is_found_by_its_fingerprint(services: Services, account: Opened) -> None:
    known = await _find(services, account.auto_key)

    assert known is not None
    assert (known.account_id, known.scopes, known.expires_at) == (account.account_id, AUTOMATION, None)
    assert await _find(services, keys.make(KeyKind.svc).text) is None


async def test_a_revoked_key_is_not_found_and_stays_revoked_when_revoked_again(
    services: Services, account: Opened, owner: Actor
) -> None:
    known = await _find(services, account.svc_key)
    assert known is not None

    times = []
    for clock in (SetClock(), SetClock(NOON + SECOND)):
        async with unit_of(services, owner) as unit:
            unit.clock = clock
            times.append((await api_keys.revoke_key(unit, known.id)).revoked_at)

    assert (await _find(services, account.svc_key), times) == (None, [NOON, NOON])
    assert await _find(services, account.auto_key) is not None


async def test_a_key_ends_at_the_instant_it_was_given(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock(NOON - SECOND)
        _, text = await api_keys.create_key(unit, services.secret, NewKey("Shop", expires_at=NOON))

    assert await _find(services, text.text, SetClock(NOON - SECOND)) is not None
    assert await _find(services, text.text, SetClock(NOON)) is None


async def test_the_key_of_a_suspended_account_is_found_as_suspended(
    services: Services, account: Opened, unit: UnitOfWork
) -> None:
    own = await queries.get_own(unit)
    own.status = AccountStatus.suspended
    await unit.save(own)
    await unit.session.commit()

    found = await _find(services, account.svc_key)
    assert found
    assert found.is_suspended


async def test_the_use_of_a_key_is_noted_once_a_minute(services: Services, account: Opened) -> None:
    known = await _find(services, account.svc_key)
    assert known is not None

    noted = []
    for seconds in (0, 59, 60, 61, 90):
        async with services.database.sessions.begin() as session:
            await api_keys.touch_key(session, known.id, NOON + seconds * SECOND)
        noted.append(await API_KEYS.where(id=known.id).only(services, "last_used_at"))

    assert [(at - NOON) / SECOND for at in noted] == [0, 0, 0, 61, 61]
    unused = await API_KEYS.where(last_used_at=None).count(services)
    assert unused == 1


async def test_keys_of_another_account_are_not_listed(
    account: Opened, new_account: Callable[..., Any], services: Services
) -> None:
    other = await new_account()

    async with unit_of(services, Actor(other.account_id, ALL)) as unit:
        listed = {each.id for each in await queries.list_keys(unit)}

    own = await API_KEYS.where(account_id=other.account_id).read(services, "id")
    assert listed == {*own}
    assert len(own) == 2


async def _find(services: Services, text: str, clock: SetClock | None = None) -> KnownKey | None:
    now = (clock or services.clock).now()
    hash = keys.fingerprint(services.secret, text)
    return (await queries.find_live_keys(services.database, [hash], now)).get(hash)


async def test_a_rotated_key_is_like_the_old_one_which_works_for_a_day(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock()
        old, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop", KeyKind.auto, ["contacts:read"]))
        unit.actor = replace(owner, label="user:2")

        new, text = await api_keys.rotate_key(unit, SECRET, old.id)

        assert (new.name, new.scopes, new.created_by, new.expires_at) == ("Shop", ["contacts:read"], "user:1", None)
        assert (old.expires_at, old.revoked_at) == (NOON + timedelta(hours=24), None)
        assert text.text.startswith("auto_")
        assert new.hash == keys.fingerprint(SECRET, text.text) != old.hash


async def test_a_key_is_rotated_once(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock()
        old, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop"))
        new, _ = await api_keys.rotate_key(unit, SECRET, old.id)

        with pytest.raises(Conflict, match=r"^The key was rotated before\. Rotate its newest one, or revoke this one"):
            await api_keys.rotate_key(unit, SECRET, old.id)

        assert (new.expires_at, len(await queries.list_keys(unit))) == (None, 4)


async def test_one_of_two_concurrent_rotations_of_a_key_is_refused(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        old, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop"))

    async def rotate() -> datetime | None:
        async with unit_of(services, owner) as unit:
            return (await api_keys.rotate_key(unit, SECRET, old.id))[0].expires_at

    answers = await asyncio.gather(rotate(), rotate(), return_exceptions=True)

    assert [type(answer) for answer in answers if answer is not None] == [Conflict]
    assert await API_KEYS.where(name="Shop").count(services) == 2


async def test_an_old_key_never_works_longer_for_having_been_rotated(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        unit.clock = SetClock()
        old, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop", expires_at=NOON + SECOND))

        new, _ = await api_keys.rotate_key(unit, SECRET, old.id, 72)

        assert old.expires_at == new.expires_at == NOON + SECOND


@pytest.mark.parametrize("hours", [-1, 73])
async def test_the_overlap_is_0_to_72_hours(services: Services, owner: Actor, hours: int) -> None:
    async with unit_of(services, owner) as unit:
        key, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop"))

        with pytest.raises(InvalidInput, match=r"^overlap_hours must be from 0 to 72.$"):
            await api_keys.rotate_key(unit, SECRET, key.id, hours)

        assert len(await queries.list_keys(unit)) == 3


async def test_a_key_that_has_ended_cannot_be_rotated(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        key, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop"))
        await api_keys.revoke_key(unit, key.id)

        with pytest.raises(Conflict, match=r"^The key was revoked or has expired. Create a new one.$"):
            await api_keys.rotate_key(unit, SECRET, key.id)

        assert len(await queries.list_keys(unit)) == 3


async def test_an_actor_cannot_rotate_a_key_with_scopes_it_lacks(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        key, _ = await api_keys.create_key(unit, SECRET, NewKey("Shop", scopes=["ai:use", "contacts:read"]))
        unit.actor = replace(owner, scopes=frozenset({Scope.account_write, Scope.contacts_read}))

        with pytest.raises(InsufficientScope, match="ai:use"):
            await api_keys.rotate_key(unit, SECRET, key.id)

        assert (key.expires_at, len(await queries.list_keys(unit))) == (None, 3)


async def test_the_live_keys_are_listed_alone(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        made = {
            kind: [(await api_keys.create_key(unit, SECRET, NewKey(name, kind)))[0] for name in ("Live", "Ended")]
            for kind in KeyKind
        }
        for _, ended in made.values():
            await api_keys.revoke_key(unit, ended.id)
        live = [key.id for key in await queries.list_keys(unit, active_only=True)]
        automation = [key.id for key in await queries.list_automation_keys(unit, active_only=True)]

    assert {each.id for each, _ in made.values()} <= set(live)
    assert not {ended.id for _, ended in made.values()} & set(live)
    assert automation[0] == made[KeyKind.auto][0].id
    assert made[KeyKind.auto][1].id not in automation


@pytest.mark.parametrize(
    ("kind", "held", "grantable"),
    [
        (KeyKind.svc, ALL, ALL),
        (KeyKind.auto, ALL, AUTOMATION_LIMIT),
        (KeyKind.svc, GENERAL, set()),
        (KeyKind.auto, {"webhooks:manage", "contacts:read", "contacts:delete"}, {"webhooks:manage", "contacts:read"}),
        (KeyKind.auto, {"contacts:read"}, set()),
    ],
)
async def test_the_scopes_that_can_be_given_are_those_of_the_kind_that_the_creator_holds(
    services: Services, account: Opened, kind: KeyKind, held: Any, grantable: Any
) -> None:
    async with unit_of(services, Actor(account.account_id, frozenset(held), "user:1")) as unit:
        assert await api_keys.find_grantable(unit, kind) == grantable


async def test_a_key_that_cannot_create_keys_can_give_no_scope(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        key, _ = await api_keys.create_key(unit, SECRET, NewKey("Platform", KeyKind.auto))
    async with unit_of(services, replace(owner, key_id=key.id)) as unit:
        assert await api_keys.find_grantable(unit, KeyKind.auto) == set()
