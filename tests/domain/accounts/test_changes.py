"""Changing an account: the country of its national numbers, and whom a HELP reply names."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.accounts import service
from app.domain.accounts.scopes import ALL
from app.domain.accounts.service import AccountFields
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import UnitFor
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES
from tests.factories.messages import MESSAGES, bodies

WRITTEN, MOBILE = "07400 123456", "+447400123456"
BAD_REGION = "region must be the two letters of a country (ISO 3166), such as US or GB."
BAD_CONTACT = "support_contact must be one line of at most 100 characters."


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


async def stored(pool: Pool) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in await ACCOUNTS.read(pool, "region", "support_contact"))


async def audited(pool: Pool) -> list[tuple[Any, ...]]:
    return await AUDIT_ENTRIES.where(action="account_changed").read(pool, "account_id", "actor", "subject", "details")


async def test_help_is_answered_with_the_new_support_contact(
    services: Services, account: Opened, unit_for: UnitFor, pool: Pool
) -> None:
    async with unit_for(account) as unit:
        await service.update(unit, {"support_contact": " help@bluedoor.example "})

    await services.inbox.receive("sandbox", InboundMessage("in-1", "+12025550143", account.phone_number, "HELP"))

    assert await bodies(pool, direction="outbound") == [
        "Blue Door: for help contact help@bluedoor.example. Msg&data rates may apply. Reply STOP to unsubscribe."
    ]


async def test_a_national_number_is_understood_as_of_the_new_region_and_priced_as_home(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    actor = Actor(account.account_id, ALL)
    abroad = await services.acceptor.accept(actor, Send(MOBILE, "Hello", consent_attested=True))
    with pytest.raises(InvalidPhone):
        await services.acceptor.accept(actor, Send(WRITTEN, "Hello", consent_attested=True))

    async with unit_for(account) as unit:
        await service.update(unit, {"region": "GB"})
    home = await services.acceptor.accept(actor, Send(WRITTEN, "Hello", consent_attested=True))

    assert (abroad.credits_remaining, home.credits_remaining) == (994, 993)
    assert await MESSAGES.where(id=home.message_id).only(services, "to_number") == (MOBILE)


async def test_a_contact_is_kept_with_the_number_that_its_national_form_has_in_the_new_region(unit: UnitOfWork) -> None:
    await service.update(unit, {"region": "GB"})

    assert (await contacts.create(unit, {"phone": WRITTEN})).phone == MOBILE


@pytest.mark.parametrize(("given", "kept"), [("GB", "GB"), ("gb", "GB"), (" Mx ", "MX"), ("US", "US")])
async def test_a_region_is_kept_in_capitals(unit: UnitOfWork, given: str, kept: str) -> None:
    assert (await service.update(unit, {"region": given})).region == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("Écrivez à René ☎ 020", "Écrivez à René ☎ 020"),
        (f"  {'x' * 100}\n", "x" * 100),
        ("", ""),
        (" ", ""),
        (None, ""),
    ],
)
async def test_a_support_contact_is_trimmed_and_may_be_emptied(unit: UnitOfWork, given: str | None, kept: str) -> None:
    await service.update(unit, {"support_contact": "help@bluedoor.example"})

    assert (await service.update(unit, {"support_contact": given})).support_contact == kept


BAD: list[tuple[AccountFields, str]] = [
    *(({"region": bad}, BAD_REGION) for bad in ("", "UK", "USA", "U", "001", "44", "ß", "G B", "Great Britain")),
    *(
        ({"support_contact": bad}, BAD_CONTACT)
        for bad in ("x" * 101, "one\ntwo", "one\u2028two", "one\x85two", "one\ttwo", "one\x00two", "\ud800")
    ),
    ({"region": "GB", "support_contact": "x" * 101}, BAD_CONTACT),
    ({"region": "UK", "support_contact": "help@bluedoor.example"}, BAD_REGION),
]


@pytest.mark.parametrize(("fields", "reason"), BAD)
async def test_a_refused_update_changes_nothing(
    account: Opened, unit_for: UnitFor, pool: Pool, fields: AccountFields, reason: str
) -> None:
    async with unit_for(account) as unit:
        with pytest.raises(InvalidInput) as refused:
            await service.update(unit, fields)

    assert str(refused.value) == reason
    assert (await stored(pool), await audited(pool)) == ([("US", "")], [])


@pytest.mark.parametrize(("fields", "reason"), BAD)
async def test_an_account_is_not_opened_with_invalid_fields(
    services: Services, pool: Pool, fields: dict[str, Any], reason: str
) -> None:
    async with unit_of(services, Actor(0, frozenset())) as unit:
        with pytest.raises(InvalidInput) as refused:
            await service.open_account(unit, "Blue Door", Decimal("0.01"), **fields)

    assert str(refused.value) == reason
    assert await stored(pool) == []


async def test_a_field_that_is_left_out_stays_as_it_is(account: Opened, unit_for: UnitFor, pool: Pool) -> None:
    changes: list[AccountFields] = [{"region": "GB"}, {"support_contact": "help@bluedoor.example"}, {}]
    seen: list[Any] = []
    for fields in changes:
        async with unit_for(account) as unit:
            await service.update(unit, fields)
        seen += await stored(pool)

    assert seen == [("GB", ""), ("GB", "help@bluedoor.example"), ("GB", "help@bluedoor.example")]


async def test_the_audit_log_records_old_and_new_values_of_changed_fields_only(
    services: Services, account: Opened, pool: Pool
) -> None:
    async with unit_of(services, Actor(account.account_id, ALL, "user:7")) as unit:
        await service.update(unit, {"region": "gb", "support_contact": ""})
        await service.update(unit, {"region": "GB"})
        await service.update(unit, {"region": "MX", "support_contact": "help@bluedoor.example"})

    assert await audited(pool) == [
        (account.account_id, "user:7", "Blue Door", {"former": {"region": "US"}, "region": "GB"}),
        (
            account.account_id,
            "user:7",
            "Blue Door",
            {
                "former": {"region": "GB", "support_contact": ""},
                "region": "MX",
                "support_contact": "help@bluedoor.example",
            },
        ),
    ]


async def test_the_second_of_two_concurrent_changes_records_the_value_set_by_the_first(
    account: Opened, unit_for: UnitFor, pool: Pool
) -> None:
    async def change(region: str) -> None:
        async with unit_for(account) as unit:
            await service.update(unit, {"region": region})

    await asyncio.gather(change("GB"), change("MX"))

    (_, _, _, first), (_, _, _, second) = await audited(pool)
    assert (first["former"], second["former"]) == ({"region": "US"}, {"region": first["region"]})
    assert await stored(pool) == [(second["region"], "")]


async def test_other_accounts_stay_as_they_are(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor, pool: Pool
) -> None:
    other = await new_account()

    async with unit_for(account) as unit:
        await service.update(unit, {"region": "GB", "support_contact": "help@bluedoor.example"})

    assert await stored(pool) == [("GB", "help@bluedoor.example"), ("US", "")]
    async with unit_for(other) as unit:
        with pytest.raises(InvalidPhone):
            await contacts.create(unit, {"phone": WRITTEN})
