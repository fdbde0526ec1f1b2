"""Accounts and the people who work in them."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from app.domain.accounts import administration, links, queries, service
from app.domain.accounts.sign_in import passwords
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import UnitFor
from tests.factories.accounts import PASSWORD_LINKS, USERS, WAITING_MAILS
from tests.factories.traps import until_blocked
from tests.waiting import within


async def test_a_person_is_added_with_a_hashed_password(unit: UnitOfWork, account: Opened) -> None:
    user = await service.add_user(unit, " Bob@Example.COM ", "secret", "Bob", "Ray")

    assert (user.email, user.first_name, user.last_name) == ("bob@example.com", "Bob", "Ray")
    assert user.password_hash is not None
    assert "secret" not in user.password_hash
    assert passwords.PASSWORDS.verify("secret", user.password_hash)
    assert [each.email for each in await queries.list_users(unit)] == [account.email, "bob@example.com"]


@pytest.mark.parametrize("email", ["owner1@example.com", "OWNER1@Example.com", " owner1@example.com"])
async def test_an_address_belongs_to_one_user_of_one_account_regardless_of_case(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor, email: str
) -> None:
    other = await new_account()

    async with unit_for(other) as unit:
        with pytest.raises(Conflict, match=r"^A user with the e-mail address owner1@example.com exists.$"):
            await service.add_user(unit, email, "secret")

        assert [each.email for each in await queries.list_users(unit)] == [other.email]


async def test_one_of_two_concurrent_additions_of_a_user_is_refused(account: Opened, unit_for: UnitFor) -> None:
    begun = asyncio.Barrier(2)

    async def add(email: str) -> str:
        async with unit_for(account) as unit:
            await queries.list_users(unit)
            await within("both to begin", begun.wait())
            return (await service.add_user(unit, email, "secret")).email

    answers = await asyncio.gather(add("bob@example.com"), add("BOB@example.com"), return_exceptions=True)

    assert sorted(type(answer) for answer in answers if not isinstance(answer, str)) == [Conflict]
    assert "bob@example.com" in answers


async def test_an_account_is_opened_empty(unit: UnitOfWork) -> None:
    opened = await service.open_account(unit, "  Blue Door ", Decimal("0.0125"), "GB")
    unit.actor = Actor(opened.id, frozenset())

    account = await queries.get_own(unit)

    await unit.session.refresh(account)
    assert (account.company_name, account.rate, account.region) == ("Blue Door", Decimal("0.0125"), "GB")
    assert (account.balance, account.status, account.account_type) == (0, "active", "prepaid")
    assert await queries.list_users(unit) == []


async def test_an_account_may_be_opened_before_its_company_has_a_name(unit: UnitOfWork) -> None:
    assert (await service.open_account(unit, " ", Decimal("0.01"))).company_name == ""


async def test_an_actor_of_no_account_finds_none(unit: UnitOfWork) -> None:
    unit.actor = Actor(0, frozenset())

    with pytest.raises(NotFound, match=r"^No account with id 0.$"):
        await queries.get_own(unit)


async def test_a_link_that_an_operator_makes_waits_for_one_that_is_being_asked_for_and_replaces_it(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    tokens = services.authentication.tokens

    async def reset() -> None:
        async with unit_for(account) as unit:
            await administration.reset_password(unit, tokens, (await queries.get_viewer(unit)).id)

    async with unit_for(account) as unit:
        await links.make(unit, tokens, await queries.get_viewer(unit))
        resetting = asyncio.create_task(reset())
        await until_blocked(services.database.pool)

    await within("the operator's link", resetting)
    assert await PASSWORD_LINKS.count(services) == await WAITING_MAILS.count(services) == 1


async def test_a_service_tells_whether_it_has_an_account(services: Services, new_account: Callable[..., Any]) -> None:
    found: list[bool] = []
    for _ in range(2):
        async with unit_of(services, Actor(0, frozenset())) as unit:
            found.append(await queries.has_any(unit))
        await new_account()

    assert found == [False, True]


async def test_a_key_of_an_account_without_owners_has_no_viewer(
    services: Services, account: Opened, unit: UnitOfWork
) -> None:
    await USERS.change(services, role="member")

    with pytest.raises(NotFound, match=r"^No user with id owner\.$"):
        await queries.get_viewer(unit)
