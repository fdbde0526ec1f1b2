"""Phones of which a carrier has said that no text reaches them."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.bootstrap import open_drip
from app.db.engine import Pool
from app.domain.contacts import service as contacts
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.domain.sequences import enrollments
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.billing import audit, balance_of
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS
from tests.factories.contacts import CONTACTS
from tests.factories.messages import OUTBOUND
from tests.factories.sequences import SEQUENCE_ENROLLMENTS

INVALID, LANDLINE = "+15005550001", "+15005550101"

Write = Callable[..., Awaitable[None]]


@pytest.fixture
def write(services: Services, account: Opened, run: Run) -> Write:
    """Provide a function that sends a transactional text, and waits for its result."""

    async def write(to: str) -> None:
        actor = Actor(account.account_id, frozenset(), "key:7")
        await services.acceptor.accept(actor, Send(to, "Your table is ready.", consent_attested=True))
        await run()

    return write


async def outcomes(pool: Pool) -> list[tuple[str, str]]:
    """Return the state and reason of every recipient, in the order of the campaigns."""
    return await CAMPAIGN_RECIPIENTS.read(pool, "state", "reason")


@pytest.mark.parametrize(
    ("phone", "verdict"), [(INVALID, ("invalid_number", "invalid_phone")), (LANDLINE, ("landline", "landline"))]
)
async def test_a_campaign_leaves_out_a_phone_that_a_carrier_has_given_a_verdict_on(
    pool: Pool, add: Callable[..., Any], send: Make, run: Run, phone: str, verdict: tuple[str, str]
) -> None:
    await add(phone)
    await add("+12025550143")
    await send()
    await run()
    assert await CONTACTS.where(phone=phone).only(pool, "reach") == verdict[0]

    await send()
    await run()

    assert sorted(await outcomes(pool)) == sorted(
        [("failed", verdict[0]), ("delivered", ""), ("suppressed", verdict[1]), ("delivered", "")]
    )
    assert await OUTBOUND.where(to_number=phone).count(pool) == 1
    await audit(pool)


@pytest.mark.parametrize(("verdict", "reason"), [("invalid_number", "invalid_phone"), ("landline", "landline")])
async def test_a_sequence_sends_nothing_to_such_a_phone(
    services: Services, pool: Pool, act: Act, add: Callable[..., Any], verdict: str, reason: str
) -> None:
    contact_id = await add("+12025550143")
    await CONTACTS.change(pool, reach=verdict)
    async with act() as unit:
        sequence = await sequences.create(unit, "Welcome", [NewStep(0, "Welcome!")])
        await enrollments.enroll(unit, sequence.id, contact_id)

    await open_drip(services).run()

    assert await SEQUENCE_ENROLLMENTS.only(pool, "status", "exit_reason") == ("exited", reason)
    assert (await OUTBOUND.count(pool), await balance_of(pool)) == (0, 1000)


async def test_a_person_may_still_write_to_such_a_phone(
    pool: Pool, add: Callable[..., Any], send: Make, run: Run, write: Write
) -> None:
    await add(LANDLINE)
    await send()
    await run()

    await write(LANDLINE)

    assert await OUTBOUND.read(pool, "purpose", "status") == [("promotional", "failed"), ("transactional", "failed")]


async def test_a_text_from_such_a_phone_ends_the_verdict(
    pool: Pool, add: Callable[..., Any], send: Make, run: Run, text: Callable[..., Any]
) -> None:
    await add(LANDLINE)
    await send()
    await run()

    await text("Hello", LANDLINE)
    assert await CONTACTS.only(pool, "reach") is None
    await send()
    await run()

    assert await outcomes(pool) == [("failed", "landline")] * 2


async def test_a_delivered_text_ends_the_verdict(pool: Pool, add: Callable[..., Any], write: Write) -> None:
    await add("+12025550143")
    await CONTACTS.change(pool, reach="landline")

    await write("+12025550143")

    assert await CONTACTS.only(pool, "reach") is None


async def test_another_phone_of_the_contact_has_no_verdict(
    pool: Pool, act: Act, add: Callable[..., Any], send: Make, run: Run
) -> None:
    contact_id = await add(INVALID)
    await send()
    await run()

    async with act() as unit:
        await contacts.update(unit, contact_id, {"phone": "+12025550143"})
    await send()
    await run()

    assert await outcomes(pool) == [("failed", "invalid_number"), ("delivered", "")]


async def test_a_verdict_on_a_text_before_the_last_reply_is_not_kept(
    pool: Pool, add: Callable[..., Any], accept: Accept, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    await add(LANDLINE)
    await send()
    await accept(2)
    await text("Hello", LANDLINE)

    await run()

    assert await outcomes(pool) == [("failed", "landline")]
    assert await CONTACTS.only(pool, "reach") is None


async def test_a_campaign_reaches_landlines_and_unknown_numbers_that_have_texted_us(
    pool: Pool, add: Callable[..., Any], send: Make, run: Run, text: Callable[..., Any]
) -> None:
    for phone in ("+442079460958", "+15555550144"):
        await add(phone)
        await text("Hello", phone)

    await send()
    await run()

    assert await outcomes(pool) == [("delivered", "")] * 2
