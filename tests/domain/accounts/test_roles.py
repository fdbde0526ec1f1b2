"""The people of an account: roles, and the last owner."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.accounts import invitations, queries, service, sessions, users
from app.domain.accounts.models import Invitation, Role
from app.domain.accounts.roles import scopes_of
from app.domain.accounts.scopes import ALL, GENERAL
from app.domain.accounts.sessions import Visitor
from app.domain.kernel.errors import Conflict, InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import AUDIT_ENTRIES, PASSWORD_LINKS, SESSIONS, USERS, add_user

PASSWORD = "seven green bicycles"


@pytest.fixture
def owner(account: Opened) -> Actor:
    """Give an actor that may do anything."""
    return Actor(account.account_id, ALL, "user:1", "request-1")


async def invite(services: Services, actor: Actor, email: str, role: Role = Role.member) -> Invitation:
    async with unit_of(services, actor) as unit:
        return await invitations.invite(unit, services.authentication.tokens, email, role)


async def entries(services: Services) -> list[tuple[Any, ...]]:
    rows = await AUDIT_ENTRIES.read(services, "action", "actor", "subject", "details")
    return [row for row in rows if not row["action"].startswith("key_")]


def test_owners_may_do_everything_and_others_not_change_the_account_or_its_billing() -> None:
    assert {role: scopes_of(role) for role in Role} == {"owner": ALL, "member": GENERAL, "service": GENERAL}


@pytest.mark.parametrize(("role", "missing"), [(Role.owner, "billing:write"), (Role.member, "agents:read")])
async def test_an_actor_cannot_grant_a_role_with_scopes_it_lacks(
    services: Services, owner: Actor, role: Role, missing: str
) -> None:
    held = ALL - {missing}
    weak = Actor(owner.account_id, frozenset(held), "key:7")
    user = await add_user(services, owner.account_id, "bob@example.com", Role.service)

    with pytest.raises(InsufficientScope, match=missing):
        await invite(services, weak, "carol@example.com", role)
    async with unit_of(services, weak) as unit:
        with pytest.raises(InsufficientScope, match=missing):
            await users.change_role(unit, user, role)

    assert await USERS.where(id=user).only(services, "role") == "service"


async def test_a_role_is_changed_and_both_are_in_the_audit_log(services: Services, owner: Actor) -> None:
    user = await add_user(services, owner.account_id, "bob@example.com")

    async with unit_of(services, owner) as unit:
        assert (await users.change_role(unit, user, Role.owner)).role == "owner"
    async with unit_of(services, owner) as unit:
        await users.change_role(unit, user, Role.owner)

    assert await entries(services) == [
        ("role_changed", "user:1", "bob@example.com", {"user_id": user, "former": "member", "role": "owner"})
    ]


async def test_a_removed_user_is_gone_with_every_session_and_link_and_the_address_is_free(
    services: Services, owner: Actor
) -> None:
    async with unit_of(services, owner) as unit:
        bob = await service.add_user(unit, "bob@example.com", PASSWORD)
    _, token = await services.authentication.enter("bob@example.com", PASSWORD, Visitor("203.0.113.8"))
    await services.authentication.ask_reset("bob@example.com", Visitor("203.0.113.8"))

    async with unit_of(services, owner) as unit:
        await users.remove(unit, bob.id)

    assert await services.authentication.find(token) is None
    assert [await rows.count(services) for rows in (SESSIONS, PASSWORD_LINKS)] == [0, 0]
    async with unit_of(services, owner) as unit:
        assert [user.email for user in await queries.list_users(unit)] == ["owner1@example.com"]
        assert await sessions.find_all(unit) == []
        with pytest.raises(NotFound):
            await users.remove(unit, bob.id)
        with pytest.raises(NotFound):
            await users.change_role(unit, bob.id, Role.member)
    assert (await invite(services, owner, "bob@example.com")).email == "bob@example.com"


async def test_the_last_owner_can_be_neither_removed_nor_given_another_role(services: Services, owner: Actor) -> None:
    await add_user(services, owner.account_id, "bob@example.com", Role.owner)  # without a password
    async with unit_of(services, owner) as unit:
        last = (await queries.list_users(unit))[0]

        for change in (users.remove(unit, last.id), users.change_role(unit, last.id, Role.member)):
            with pytest.raises(
                Conflict, match=r"^The account needs an owner. Give another user the role owner first\.$"
            ):
                await change

    row = await USERS.where(id=last.id).only(services, "role", "removed_at")
    assert row == ("owner", None)


async def test_of_two_owners_who_remove_each_other_one_stays(services: Services, owner: Actor) -> None:
    async with unit_of(services, owner) as unit:
        await service.add_user(unit, "bob@example.com", PASSWORD)
        both = [user.id for user in await queries.list_users(unit)]

    async def remove(id: int) -> None:
        async with unit_of(services, owner) as unit:
            await users.remove(unit, id)

    answers = await asyncio.gather(*map(remove, both), return_exceptions=True)

    assert sorted(type(answer).__name__ for answer in answers) == ["Conflict", "NoneType"]
    assert await USERS.where(removed_at=None).count(services) == 1


async def test_people_of_another_account_cannot_be_changed(
    services: Services, account: Opened, new_account: Callable[..., Any], unit: UnitOfWork
) -> None:
    [user] = await queries.list_users(unit)
    stranger = Actor((await new_account()).account_id, ALL)

    async with unit_of(services, stranger) as foreign:
        for change in (users.remove(foreign, user.id), users.change_role(foreign, user.id, Role.member)):
            with pytest.raises(NotFound, match=rf"^No user with id {user.id}\.$"):
                await change
