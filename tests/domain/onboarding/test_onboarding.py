"""Opening accounts that can send at once."""

from decimal import Decimal
from typing import Any

import pytest

from app.domain.accounts import keys, queries
from app.domain.accounts.scopes import AUTOMATION, GENERAL
from app.domain.accounts.sign_in import passwords
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.onboarding.service import Opened, Opening, open_account
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES, balance_of
from tests.factories.numbers import PHONE_NUMBERS

OPENING = Opening(" Blue Door ", "Owner@Example.com", Decimal("0.0125"), 500, b"secret", "GB")


async def test_an_opened_account_has_all_it_needs_to_send(services: Services) -> None:
    async with _unit(services) as unit:
        opened = await open_account(unit, OPENING)

        account, [owner] = await queries.get_own(unit), await queries.list_users(unit)
        await unit.session.refresh(account)
        number = await numbers.find_primary(unit)
        assert number is not None
        ends = opened.account_id, opened.company_name, opened.email, opened.phone_number_id, opened.phone_number
        assert ends == (account.id, "Blue Door", "owner@example.com", number.id, number.phone_number)
        assert (account.rate, account.balance, account.region, opened.credits) == (Decimal("0.0125"), 500, "GB", 500)
        assert owner.password_hash is not None
        assert passwords.PASSWORDS.verify(opened.password, owner.password_hash)


async def test_the_keys_of_an_opened_account_work(services: Services) -> None:
    async with _unit(services) as unit:
        opened = await open_account(unit, OPENING)

    hashes = [keys.fingerprint(b"secret", text) for text in (opened.svc_key, opened.auto_key)]
    live = await queries.find_live_keys(services.database, hashes, services.clock.now())
    found = [live.get(hash) for hash in hashes]

    assert [key and (key.account_id, key.scopes) for key in found] == [
        (opened.account_id, GENERAL),
        (opened.account_id, AUTOMATION),
    ]


async def test_starter_credits_stand_in_the_ledger(services: Services) -> None:
    async with _unit(services) as unit:
        opened = await open_account(unit, OPENING)

    rows = await LEDGER_ENTRIES.read(services)
    entries = [(row["account_id"], row["type"], row["amount"], row["balance_after"], row["actor"]) for row in rows]
    assert entries == [(opened.account_id, "adjustment", 500, 500, "setup")]


async def test_an_account_without_starter_credits_has_an_empty_ledger(services: Services) -> None:
    async with _unit(services) as unit:
        await open_account(unit, Opening("Blue Door", "owner@example.com", Decimal("0.01"), 0, b"secret"))

    assert await LEDGER_ENTRIES.count(services) == 0
    assert await balance_of(services) == 0


async def test_the_region_of_an_account_reads_its_national_phones(services: Services) -> None:
    async with _unit(services) as unit:
        await open_account(unit, OPENING)

        assert (await contacts.create(unit, {"phone": "07911 123456"})).phone == "+447911123456"


async def test_an_account_whose_owner_is_known_is_not_opened_at_all(services: Services, account: Opened) -> None:
    async def open_another() -> None:
        async with _unit(services) as unit:
            await open_account(unit, Opening("Copy", account.email.upper(), Decimal("0.01"), 7, b"secret"))

    with pytest.raises(Conflict):
        await open_another()

    pool = services.database.pool
    assert await ACCOUNTS.read(pool, "id") == [account.account_id]
    assert await PHONE_NUMBERS.count(pool) == 1


async def test_the_actor_of_the_unit_becomes_the_account(unit: UnitOfWork, account: Opened) -> None:
    opened = await open_account(unit, OPENING)

    assert (unit.actor.account_id, unit.actor.label) == (opened.account_id, "setup")
    assert opened.account_id != account.account_id


def _unit(services: Services) -> Any:
    return unit_of(services, Actor(0, frozenset()))
