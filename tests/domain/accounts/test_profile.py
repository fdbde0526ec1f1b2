"""The profile of an account: its company name, the names of its users, and the replies that show them."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from app.domain.accounts import queries, service, users
from app.domain.accounts.mail_templates import invitation, notice, reset
from app.domain.accounts.users import UserFields
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.accounts import ACCOUNTS, AUDIT_ENTRIES, USERS
from tests.factories.messages import OUTBOUND

PHONE = "+12025550143"
STOP, START, HELP = "Reply STOP to unsubscribe.", "Reply START to resubscribe.", "Reply HELP for help"


@pytest.fixture
def replies(services: Services) -> Callable[..., Any]:
    """Give a function that texts an account and returns the replies so far."""

    async def text(account: Opened, *bodies: str) -> list[str]:
        for place, body in enumerate(bodies):
            inbound = InboundMessage(f"in-{place}-{body}", PHONE, account.phone_number, body)
            await services.inbox.receive("sandbox", inbound)
        return await OUTBOUND.read(services, "body")

    return text


async def test_an_account_without_a_name_replies_without_one(
    new_account: Callable[..., Any], replies: Callable[..., Any]
) -> None:
    account = await new_account(company_name="")

    assert await replies(account, "HELP", "STOP", "START") == [
        f"Msg&data rates may apply. {STOP}",
        f"You are unsubscribed and will get no more messages. {START}",
        f"You are subscribed again. {HELP}, STOP to unsubscribe.",
    ]


@pytest.mark.parametrize("support", ["", "help@bluedoor.example"])
async def test_no_reply_calls_an_account_my_company(
    new_account: Callable[..., Any], unit_for: UnitFor, replies: Callable[..., Any], support: str
) -> None:
    account = await new_account(company_name="My company")
    async with unit_for(account) as unit:
        await service.update(unit, {"support_contact": support})

    told = " ".join(await replies(account, "HELP", "STOP", "START"))

    assert "my company" not in told.lower()
    assert (f"For help contact {support}. " in told) is (support != "")


async def test_an_account_without_a_name_replies_with_its_support_contact(
    new_account: Callable[..., Any], unit_for: UnitFor, replies: Callable[..., Any]
) -> None:
    account = await new_account(company_name="")
    async with unit_for(account) as unit:
        await service.update(unit, {"support_contact": "help@bluedoor.example"})

    assert await replies(account, "HELP") == [
        f"For help contact help@bluedoor.example. Msg&data rates may apply. {STOP}"
    ]


async def test_help_without_a_name_is_answered_once_a_day_too(
    new_account: Callable[..., Any], replies: Callable[..., Any]
) -> None:
    assert len(await replies(await new_account(company_name=""), "HELP", "HELP")) == 1


async def test_a_reply_shows_the_name_that_the_company_has_then(
    account: Opened, unit_for: UnitFor, replies: Callable[..., Any]
) -> None:
    await replies(account, "HELP")

    async with unit_for(account) as unit:
        await service.update(unit, {"company_name": " Green Door "})

    assert await replies(account, "STOP") == [
        f"Blue Door: for help contact Blue Door. Msg&data rates may apply. {STOP}",
        f"Green Door: you are unsubscribed and will get no more messages. {START}",
    ]


@pytest.mark.parametrize(
    "name", ["", "  ", "a" * 101, "Blue\nDoor", "Blue\x00Door", "Blue\u202eDoor", "\u2066Door", "\u200b", "\u3164"]
)
async def test_a_company_name_is_one_line_of_1_to_100_characters(
    services: Services, account: Opened, unit_for: UnitFor, name: str
) -> None:
    with pytest.raises(InvalidInput, match="company_name must"):
        async with unit_for(account) as unit:
            await service.update(unit, {"company_name": name})

    assert await ACCOUNTS.only(services, "company_name") == "Blue Door"
    recorded = await AUDIT_ENTRIES.read(services, "action")
    assert [action for action in recorded if action.startswith("account")] == []


async def test_a_user_is_given_a_first_and_a_last_name(services: Services, account: Opened, unit_for: UnitFor) -> None:
    async with unit_for(account) as unit:
        [owner] = await queries.list_users(unit)
        await users.update(unit, owner.id, {"first_name": " Ann ", "last_name": "Lee"})
        await users.update(unit, owner.id, {"last_name": None})
        await users.update(unit, owner.id, {"first_name": "Ann"})

    pool = services.database.pool
    assert await USERS.read(pool, "first_name", "last_name") == [("Ann", "")]
    audited = await AUDIT_ENTRIES.where(action="user_changed").read(pool, "subject", "details")
    assert [tuple(row) for row in audited] == [
        (account.email, {"user_id": owner.id, "former": {"first_name": "", "last_name": ""}}),
        (account.email, {"user_id": owner.id, "former": {"last_name": "Lee"}}),
    ]


@pytest.mark.parametrize("fields", [{"first_name": "a" * 101}, {"last_name": "Lee\r\nBcc: x"}])
async def test_a_name_is_one_line_of_at_most_100_characters(
    services: Services, account: Opened, unit_for: UnitFor, fields: UserFields
) -> None:
    async with unit_for(account) as unit:
        [owner] = await queries.list_users(unit)
        with pytest.raises(InvalidInput, match="must be one line of at most 100 characters"):
            await users.update(unit, owner.id, fields)

    assert await USERS.only(services, "first_name", "last_name") == ("", "")


async def test_the_name_of_another_accounts_user_is_not_changed(
    services: Services, account: Opened, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    stranger = await new_account()
    async with unit_for(account) as unit:
        [owner] = await queries.list_users(unit)

    with pytest.raises(NotFound):
        async with unit_for(stranger) as unit:
            await users.update(unit, owner.id, {"first_name": "Changed"})

    assert await USERS.read(services, "first_name") == ["", ""]


async def test_auth_test_shows_the_names_that_were_set(
    api: httpx2.AsyncClient, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        [owner] = await queries.list_users(unit)
        await users.update(unit, owner.id, {"first_name": "Ann", "last_name": "Lee"})
        await service.update(unit, {"company_name": "Green Door"})

    answer = await api.get("/automation/auth/test")

    assert answer.json()["user"] == {
        "id": owner.id,
        "email": account.email,
        "first_name": "Ann",
        "last_name": "Lee",
        "company_name": "Green Door",
    }


def test_a_mail_names_no_company_that_has_no_name() -> None:
    url = "https://sms.example.com/password/1"

    mails = [
        invitation("ann@example.com", "", url),
        reset("ann@example.com", "", url),
        notice("ann@example.com", "", url, subject="A webhook fails", opening="Look."),
    ]

    assert [mail.subject for mail in mails] == [
        "You are invited to Messaging",
        "Choose a new password",
        "A webhook fails",
    ]
    assert [mail.text.count("account of") for mail in mails] == [0, 0, 0]
    assert "invited to work in a Messaging account. " in mails[0].text
