"""No key outlives what it was made, or rotated, with; and none dies for the mere passing of a rotation's overlap."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.accounts import api_keys, credentials, queries
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import Role
from app.domain.kernel.errors import Conflict
from app.services import Services
from tests.conftest import unit_of
from tests.domain.accounts.lineage import HOUR, SERVICE, Lineage, Model
from tests.domain.conftest import NOON
from tests.factories.accounts import CREATORS, USERS
from tests.factories.traps import until_blocked

DAY = 24
SVC, AUTO = KeyKind.svc, KeyKind.auto


@pytest.fixture
async def lineage(services: Services) -> Lineage:
    """Give an account with the users ann and bob."""
    return await Lineage.open(services)


async def test_a_rotated_key_ends_with_the_key_that_rotated_it(lineage: Lineage) -> None:
    victim, rotator = await lineage.make("ann", SVC), await lineage.make("bob", SVC)
    new = await lineage.rotate(rotator, victim, 0)
    assert await lineage.working() == {new, rotator}

    await lineage.end(rotator)

    assert await lineage.working() == set()


@pytest.mark.parametrize("ended", ["ann", "bob"])
async def test_a_rotated_key_ends_with_the_creator_of_the_old_one_and_with_the_user_who_rotated_it(
    lineage: Lineage, ended: str
) -> None:
    new = await lineage.rotate("bob", await lineage.make("ann", SVC), 0)
    assert await lineage.working() == {new}

    await lineage.end(ended)

    assert await lineage.working() == set()


async def test_a_key_that_a_key_rotated_makes_no_keys(lineage: Lineage) -> None:
    old, rotator = await lineage.make("ann", SVC), await lineage.make("ann", SVC)
    new = await lineage.rotate(rotator, old, 0)

    assert await lineage.make(new, AUTO) == ""
    assert await lineage.make(await lineage.rotate("bob", new, 0), SVC) == ""
    assert await lineage.make(await lineage.rotate("ann", await lineage.make("ann", SVC), 0), SVC) != ""


async def test_a_key_that_rotated_itself_ends_when_the_old_one_is_revoked_and_not_when_it_runs_out(
    lineage: Lineage,
) -> None:
    old = await lineage.make("ann", SVC)
    child, hook = await lineage.make(old, AUTO), await lineage.hook(old)
    new = await lineage.rotate(old, old, DAY)
    lineage.clock.at += (DAY + 1) * HOUR
    assert await lineage.working() == {new, child, hook}

    await lineage.end(old)

    assert await lineage.working() == set()


async def test_keys_that_rotate_each_other_end_when_the_first_is_revoked(lineage: Lineage) -> None:
    first, other = await lineage.make("ann", SVC), await lineage.make("ann", SVC)
    taken = await lineage.rotate(first, other, 0)
    freed = await lineage.rotate(taken, first, 0)
    hook = await lineage.hook(freed)
    assert await lineage.working() == {taken, freed, hook}

    await lineage.end(first)

    assert await lineage.working() == set()


async def test_keys_and_webhooks_made_before_a_rotation_outlive_the_old_key(lineage: Lineage) -> None:
    old = await lineage.make("ann", SVC)
    child, hook = await lineage.make(old, AUTO), await lineage.hook(old)
    new = await lineage.rotate("bob", old, DAY)
    await lineage.end(old)
    assert await lineage.working() == {new, child, hook}

    await lineage.end(new)

    assert await lineage.working() == set()


async def test_keys_and_webhooks_made_during_the_overlap_outlive_it_with_the_new_key(lineage: Lineage) -> None:
    old = await lineage.make("ann", SVC)
    new = await lineage.rotate("ann", old, DAY)
    child, hook = await lineage.make(old, AUTO), await lineage.hook(old)
    lineage.clock.at += DAY * HOUR
    assert await lineage.working() == {new, child, hook}

    await lineage.end(new)

    assert await lineage.working() == set()


async def test_a_key_made_during_the_overlap_ends_when_the_old_key_is_revoked(lineage: Lineage) -> None:
    old = await lineage.make("ann", SVC)
    new = await lineage.rotate("ann", old, DAY)
    await lineage.make(old, AUTO)

    await lineage.end(old)

    assert await lineage.working() == {new}


async def test_a_webhook_ends_when_its_key_runs_out(lineage: Lineage) -> None:
    key = await lineage.make("ann", AUTO, HOUR)
    hook = await lineage.hook(key)
    assert await lineage.working() == {key, hook}

    lineage.clock.at += HOUR

    assert await lineage.working() == set()


async def test_a_key_may_do_no_more_than_any_user_that_it_depends_on(lineage: Lineage) -> None:
    new = await lineage.rotate("bob", await lineage.make("ann", SVC), 0)
    await USERS.where(id=lineage.actors["bob"].user_id).change(lineage.services, role=Role.member)

    async with lineage.act(SERVICE) as unit:
        shown = await queries.show_key(unit, lineage.actors[new].key_id or 0)

    assert not {"account:write", "billing:write"} & set(shown.scopes)


async def test_a_key_that_is_revoked_while_it_is_rotated_is_not_rotated(lineage: Lineage) -> None:
    old = await lineage.make("ann", SVC)
    id = lineage.actors[old].key_id or 0

    async with unit_of(lineage.services, lineage.actors["ann"]) as unit:
        await api_keys.revoke_key(unit, id)
        lineage.model.revoked.add(old)
        rotating = asyncio.create_task(lineage.rotate("bob", old, DAY))
        await until_blocked(lineage.services.database.pool)

    assert await rotating == ""
    assert await lineage.working() == set()


async def test_a_key_that_is_rotated_while_it_is_revoked_does_not_free_itself(lineage: Lineage) -> None:
    old = await lineage.make("ann", SVC)
    id = lineage.actors[old].key_id or 0

    async with unit_of(lineage.services, lineage.actors[old]) as unit:
        new, _ = await api_keys.rotate_key(unit, lineage.services.secret, id)
        revoking = asyncio.create_task(lineage.end(old))
        await until_blocked(lineage.services.database.pool)
    await revoking

    async with lineage.act(SERVICE) as unit:
        shown = [await queries.show_key(unit, each) for each in (id, new.id)]
    assert shown[0].revoked_at == shown[1].revoked_at == NOON


async def test_rotations_of_one_account_wait_for_one_another(lineage: Lineage) -> None:
    first, second = await lineage.make("ann", SVC), await lineage.make("ann", SVC)
    actors, secret = lineage.actors, lineage.services.secret

    async def rotate(by: str, old: str) -> None:
        async with unit_of(lineage.services, actors[by]) as unit:
            await api_keys.rotate_key(unit, secret, actors[old].key_id or 0)

    async with unit_of(lineage.services, actors[first]) as unit:
        await api_keys.rotate_key(unit, secret, actors[second].key_id or 0)
        crossing = asyncio.create_task(rotate(second, first))
        await until_blocked(lineage.services.database.pool)
    await crossing

    made_by_keys = CREATORS.where(account_id=lineage.account.account_id).where_not(creator_key_id=None)
    assert await made_by_keys.read(lineage.services, "creator_key_id") == [actors[first].key_id, actors[second].key_id]
    await lineage.end(first)
    await lineage.end(second)
    async with lineage.act(SERVICE) as unit:
        assert all(key.revoked_at for key in await queries.list_keys(unit) if key.name.startswith("svc "))


async def test_a_key_is_rotated_once_by_two_at_the_same_time(lineage: Lineage) -> None:
    old = await lineage.make("ann", SVC)
    id = lineage.actors[old].key_id or 0

    async def rotate(by: str) -> None:
        async with unit_of(lineage.services, lineage.actors[by]) as unit:
            await api_keys.rotate_key(unit, lineage.services.secret, id)

    outcomes = await asyncio.gather(rotate("ann"), rotate("bob"), return_exceptions=True)

    assert [type(each) for each in outcomes if each] == [Conflict]


moves = st.lists(st.tuples(st.sampled_from(["make", "rotate", "wait"]), st.integers(0, 20), st.integers(0, 20)))


@given(moves=moves, stolen=st.integers(1, 3))
def test_revoking_the_stolen_keys_ends_every_key_made_with_them(moves: list[tuple[str, int, int]], stolen: int) -> None:
    model, now = Model(), NOON
    for number in range(4):
        model.make(f"svc {number}", "ann")
    held = [f"svc {number}" for number in range(stolen)]
    for move, by, which in moves:
        able = [name for name in held if model.works(name, now)]
        new, all_keys = f"svc {len(model.creators)}", list(model.creators)
        if move == "wait" or not able:
            now += HOUR
            continue
        actor, old = able[by % len(able)], all_keys[which % len(all_keys)]
        if move == "make" and model.may_make(actor):
            model.make(new, actor)
        elif move == "rotate" and model.works(old, now) and old not in model.successors:
            model.rotate(old, new, actor, now, HOUR)
        held = [*held, new] if new in model.creators else held

    model.revoked |= {f"svc {number}" for number in range(stolen)}

    assert [name for name in held if model.works(name, now)] == []


async def test_the_service_itself_is_no_credential(lineage: Lineage) -> None:
    assert credentials.creator_of(lineage.actors[SERVICE]) is None
    assert credentials.sees_all(lineage.actors[SERVICE])
