"""The number that a text leaves from."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns.senders import Senders
from app.domain.carriers.carrier import InboundMessage
from app.domain.messages.replies import Reply, reply
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.messages.sends import OTHER, TO
from tests.factories.carriers import add_smpp_connection
from tests.factories.messages import MESSAGES
from tests.factories.numbers import PHONE_NUMBERS, add_number

SECOND, REAL = "+15002999999", "+14155550100"


@pytest.fixture
async def second(account: Opened, pool: Pool) -> int:
    """Provide the id of a second number of the account."""
    return await add_number(pool, account.account_id, SECOND)


@pytest.fixture
def write(services: Services) -> Callable[[str], Any]:
    """Provide a function that delivers a contact's text to a number."""
    return lambda number: services.inbox.receive("sandbox", InboundMessage("in-1", TO, number, "Hello"))


async def number_of(pool: Pool, message_id: int) -> str:
    return (await MESSAGES.where(id=message_id).only(pool))["from_number"]


async def test_the_first_text_to_a_phone_leaves_from_the_primary_number(
    send: Callable[..., Any], account: Opened, pool: Pool, second: int
) -> None:
    assert await number_of(pool, (await send()).message_id) == account.phone_number


async def test_a_text_leaves_from_the_number_that_the_contact_wrote_to(
    send: Callable[..., Any], account: Opened, pool: Pool, second: int, write: Callable[[str], Any]
) -> None:
    await write(SECOND)

    assert await number_of(pool, (await send()).message_id) == SECOND
    assert await number_of(pool, (await send(OTHER)).message_id) == account.phone_number


async def test_a_text_leaves_from_the_number_that_the_latest_one_was_sent_from(
    send: Callable[..., Any], account: Opened, pool: Pool, second: int, write: Callable[[str], Any]
) -> None:
    await write(account.phone_number)
    await send(from_phone_number_id=second)

    assert await number_of(pool, (await send()).message_id) == SECOND


async def test_of_texts_accepted_together_the_last_one_sets_the_number_of_the_next(
    send: Callable[..., Any], pool: Pool, second: int
) -> None:
    first = (await PHONE_NUMBERS.where(is_primary=True).only(pool))["id"]
    numbers = [first, second, first, second]
    await send()

    await asyncio.gather(*(send(from_phone_number_id=id) for id in numbers))

    assert await number_of(pool, (await send()).message_id) == SECOND


async def test_a_text_leaves_from_the_primary_number_when_the_usual_one_is_not_active_any_more(
    send: Callable[..., Any], account: Opened, pool: Pool, second: int, write: Callable[[str], Any]
) -> None:
    await write(SECOND)
    await PHONE_NUMBERS.where(id=second).change(pool, status="released")

    assert await number_of(pool, (await send()).message_id) == account.phone_number


async def test_a_text_never_leaves_from_a_number_that_another_account_has_now(
    send: Callable[..., Any],
    account: Opened,
    new_account: Callable[..., Any],
    pool: Pool,
    second: int,
    write: Callable[[str], Any],
) -> None:
    other = await new_account(company_name="Other")
    await write(SECOND)
    await PHONE_NUMBERS.where(id=second).change(pool, account_id=other.account_id)

    assert await number_of(pool, (await send()).message_id) == account.phone_number


@pytest.fixture
async def real(account: Opened, services: Services, pool: Pool) -> int:
    """Provide the id of a number at a carrier, not the primary one; the account has one of the sandbox too."""
    await add_smpp_connection(services, "main")
    return await add_number(pool, account.account_id, REAL, carrier="main")


async def test_no_text_leaves_from_the_sandbox_unless_its_number_is_named(
    send: Callable[..., Any],
    services: Services,
    act: Callable[[], Any],
    account: Opened,
    write: Callable[[str], Any],
    real: int,
) -> None:
    pool = services.database.pool
    await write(account.phone_number)
    conversation = await MESSAGES.only(pool, "conversation_id")
    async with act() as unit:
        replied = await reply(unit, services.acceptor, conversation, Reply("Hi", consent_attested=True))
    sent = [replied, await send(), await send(OTHER), await send(keeps_number=False)]
    named = await send(from_phone_number_id=account.phone_number_id)
    after = await send()
    async with pool.acquire() as connection:
        campaigns = [
            await Senders.read(connection, account.account_id, 1, id) for id in (None, account.phone_number_id)
        ]

    assert [await number_of(pool, each.message_id) for each in (*sent, after)] == [REAL] * 5
    assert await number_of(pool, named.message_id) == account.phone_number
    assert [list(each.numbers) for each in campaigns] == [[REAL], [account.phone_number]]


async def test_a_text_leaves_from_the_sandbox_again_when_the_numbers_at_carriers_are_released(
    send: Callable[..., Any], account: Opened, pool: Pool, real: int
) -> None:
    await send()
    await PHONE_NUMBERS.where(id=real).change(pool, status="released")

    assert await number_of(pool, (await send()).message_id) == account.phone_number


async def test_a_text_that_keeps_no_number_leaves_from_the_primary_one(
    send: Callable[..., Any], account: Opened, pool: Pool, second: int, write: Callable[[str], Any]
) -> None:
    await write(SECOND)

    assert await number_of(pool, (await send(keeps_number=False)).message_id) == account.phone_number
