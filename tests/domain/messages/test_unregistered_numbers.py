"""Numbers that their carriers refuse as not registered."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from app.bootstrap import open_dispatcher
from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Answer, FailureCode, OutboundMessage, Receipt, ReceiptStatus, Rejected
from app.domain.messages.errors import NoSender
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.numbers import service as numbers
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over, through
from tests.factories.billing import audit, balance_of
from tests.factories.events import payloads
from tests.factories.messages import OUTBOUND, OUTGOING, states
from tests.factories.numbers import PHONE_NUMBERS

REFUSED = Rejected(FailureCode.unregistered_sender, "30034")


class Registering(SandboxCarrier):
    """A carrier that gives the answers of a plan, and refuses the number after them."""

    def __init__(self, pool: Pool, *planned: Answer) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.planned, self.calls = list(planned), 0

    async def send(self, message: OutboundMessage) -> Answer:
        self.calls += 1
        return self.planned.pop(0) if self.planned else REFUSED


Leave = Callable[[SandboxCarrier], Awaitable[None]]


@pytest.fixture
def leave(services: Services, handoff: Handoff) -> Leave:
    """Provide a function that hands over the due texts to a carrier, and dispatches the events."""
    dispatcher = open_dispatcher(services)

    async def leave(carrier: SandboxCarrier) -> None:
        await hand_over(through(handoff, carrier))
        while await dispatcher.due():
            await dispatcher.run()

    return leave


@pytest.mark.parametrize("purpose", [Purpose.transactional, Purpose.promotional, Purpose.conversational])
async def test_a_number_that_its_carrier_refuses_three_times_in_a_row_sends_nothing_more(
    account: Opened, send: Callable[..., Any], leave: Leave, pool: Pool, purpose: Purpose
) -> None:
    carrier = Registering(pool)
    for _ in range(3):
        await send(purpose=purpose)
        await leave(carrier)

    with pytest.raises(NoSender):
        await send(purpose=purpose)

    assert (carrier.calls, await OUTBOUND.count(pool), await balance_of(pool)) == (3, 3, 1000)
    assert await PHONE_NUMBERS.only(pool, "is_paused", "refusals") == (True, 3)
    [notice] = await payloads(pool, "owners_notified")
    assert (notice["kind"], notice["title"]) == ("number", f"The number {account.phone_number} is paused")
    assert notice["subject_id"] == account.phone_number_id


async def test_texts_that_wait_for_such_a_number_fail_without_a_call(
    send: Callable[..., Any], leave: Leave, pool: Pool
) -> None:
    carrier = Registering(pool)
    for _ in range(3):
        await send()
    await leave(carrier)
    await PHONE_NUMBERS.change(pool, is_paused=False)
    await send()

    await leave(carrier)

    assert (carrier.calls, await states(pool)) == (3, [("failed", "unregistered_sender")] * 4)
    assert (await balance_of(pool), await OUTGOING.count(pool)) == (1000, 0)
    await audit(pool)


async def test_texts_leave_from_another_number_of_the_account(
    services: Services,
    account: Opened,
    act: Callable[[], AbstractAsyncContextManager[Any]],
    send: Callable[..., Any],
    leave: Leave,
    pool: Pool,
) -> None:
    async with act() as unit:
        other = await numbers.assign_sandbox_number(unit)
    for _ in range(3):
        await send()
    await leave(Registering(pool))

    await send()

    assert await OUTBOUND.last(pool, "from_number") == other.phone_number


async def test_a_delivery_in_between_keeps_the_number(
    services: Services, send: Callable[..., Any], leave: Leave, pool: Pool
) -> None:
    carrier = Registering(pool, REFUSED, REFUSED, Accepted("call-3"))
    for _ in range(3):
        await send()
        await leave(carrier)
    await services.receipts.receive("sandbox", Receipt("call-3", ReceiptStatus.delivered, "delivered"))
    await leave(carrier)

    for _ in range(2):
        await send()
        await leave(carrier)

    assert carrier.calls == 5
    assert await PHONE_NUMBERS.only(pool, "is_paused", "refusals") == (False, 2)


async def test_a_number_that_is_resumed_sends_again(
    act: Callable[[], AbstractAsyncContextManager[Any]], send: Callable[..., Any], leave: Leave, pool: Pool
) -> None:
    for _ in range(3):
        await send()
    await leave(Registering(pool))

    async with act() as unit:
        await numbers.set_paused(unit, await PHONE_NUMBERS.only(pool, "id"), paused=False)
    await send()
    await leave(Registering(pool, Accepted("call-4")))

    assert await OUTBOUND.last(pool, "status") == "sent"
    assert await PHONE_NUMBERS.only(pool, "is_paused", "refusals") == (False, 0)
