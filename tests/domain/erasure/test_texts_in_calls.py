"""Erasing a contact while a carrier is called with a text to it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    CarriedMessage,
    FailureCode,
    OutboundMessage,
    Receipt,
    ReceiptStatus,
    Rejected,
)
from app.domain.messages.carrier_erasures import CarrierErasures
from app.domain.messages.erased_calls import ErasedCalls
from app.domain.messages.erasure import RECORDED_WITHIN
from app.domain.messages.handoff import Handoff
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.erasure.deletions import ask, deletions, forget_at_carriers, run_out
from tests.domain.messages.handing import hand_over
from tests.factories.billing import audit, balance_of, entries
from tests.factories.carriers import opened
from tests.factories.clocks import Later
from tests.factories.messages import CARRIER_ERASURES, ERASED_CALLS, MESSAGES, OUTGOING, SANDBOX_MESSAGES
from tests.factories.tables import ago, ahead
from tests.factories.traps import locked, table_locked, until_blocked
from tests.waiting import until, within


class Gate(SandboxCarrier):
    """A carrier that answers nobody until it is opened; without an `answer` it accepts every message."""

    def __init__(self, pool: Pool, answer: Answer | None = None) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self._answer = answer
        self.opened = asyncio.Event()

    async def send(self, message: OutboundMessage) -> Answer:
        await within("the gate to open", self.opened.wait())
        return self._answer or Accepted(f"sbx_{message.reference}")


async def is_claimed(handoff: Handoff) -> bool:
    return not await handoff.due()


class Asked(SandboxCarrier):
    """A carrier that notes of which of its ids it is asked to delete the text; `meanwhile` is awaited first."""

    def __init__(self, pool: Pool, meanwhile: Callable[[], Awaitable[object]]) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self._meanwhile = meanwhile
        self.asked: list[str | None] = []

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        await self._meanwhile()
        self.asked += [message.provider_message_id for message in messages]


@pytest.fixture
def refund(services: Services) -> Callable[..., Any]:
    """Give a function that refunds what is due after a time."""

    async def refund(**later: float) -> None:
        calls = ErasedCalls(services.database, Later(timedelta(**later)), services.notify)
        assert await calls.due()
        await asyncio.gather(calls.run(), calls.run())
        assert not await calls.due()

    return refund


async def test_a_text_that_its_carrier_accepts_after_the_erasure_is_not_refunded_and_the_copy_there_is_deleted(
    services: Services, send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id
    async with table_locked(pool, "sandbox_messages"):
        calling = asyncio.create_task(hand_over(handoff))
        await until_blocked(pool)
        await erase()
    await calling
    await services.receipts.receive("sandbox", Receipt(f"sbx_{id}", ReceiptStatus.failed, "failed", reference=id))

    assert await CARRIER_ERASURES.only(pool, "provider_message_id") == f"sbx_{id}"
    await forget_at_carriers(services)
    assert (await CARRIER_ERASURES.count(pool), await SANDBOX_MESSAGES.count(pool)) == (0, 0)
    assert await ERASED_CALLS.count(pool) == 0
    assert await entries(pool) == [("debit", -1, 999)]
    assert not await services.receipts.due()
    await audit(pool)


async def test_a_text_whose_copy_is_to_be_deleted_before_its_carrier_has_accepted_it_is_deleted_again_afterwards(
    services: Services, send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id
    gate = Gate(pool)
    calling = asyncio.create_task(hand_over(replace(handoff, connections=opened(handoff, sandbox=gate))))
    await until(lambda: is_claimed(handoff))
    await erase()

    async def accept() -> None:
        gate.opened.set()
        await calling

    carrier = Asked(pool, accept)
    erasures = CarrierErasures(services.database, opened(handoff, sandbox=carrier), Later(timedelta(minutes=1)))
    for _ in range(2):
        assert await erasures.due()
        await erasures.run()

    assert carrier.asked == [None, f"sbx_{id}"]
    assert (await CARRIER_ERASURES.count(pool), await ERASED_CALLS.count(pool)) == (0, 0)
    assert await entries(pool) == [("debit", -1, 999)]


@pytest.mark.parametrize("answer", [Rejected(FailureCode.invalid_number), Ambiguous("no answer in time")])
async def test_a_text_that_its_carrier_does_not_accept_after_the_erasure_is_refunded_once_the_call_has_ended(
    send: Callable[..., Any],
    erase: Callable[..., Any],
    refund: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    answer: Answer,
) -> None:
    await send(body="A" * 161)
    gate = Gate(pool, answer)
    calling = asyncio.create_task(hand_over(replace(handoff, connections=opened(handoff, sandbox=gate))))
    await until(lambda: is_claimed(handoff))
    [claimed_until] = await OUTGOING.read(pool, "claimed_until")
    await erase()
    gate.opened.set()
    await calling

    assert await ERASED_CALLS.only(pool, "due_at") == claimed_until + RECORDED_WITHIN
    assert await entries(pool) == [("debit", -2, 998)]
    await refund(minutes=2)
    assert await entries(pool) == [("debit", -2, 998), ("refund", 2, 1000)]
    await audit(pool)


async def test_a_text_that_its_carrier_did_not_answer_is_refunded_without_a_wait_for_the_next_question(
    send: Callable[..., Any], erase: Callable[..., Any], refund: Callable[..., Any], pool: Pool
) -> None:
    await send()
    await OUTGOING.change(pool, claimed_until=ahead(minutes=10), unanswered_since=ago(minutes=20))

    await erase()
    await refund(minutes=1)

    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_the_credits_of_a_text_in_a_call_end_with_its_account(
    services: Services, account: Opened, send: Callable[..., Any], erase: Callable[..., Any], pool: Pool
) -> None:
    await send()
    await OUTGOING.change(pool, claimed_until=ahead(minutes=1))
    await erase()
    assert await ERASED_CALLS.count(pool) == 1

    await ask(services, account.account_id)
    await run_out(deletions(services))

    assert await ERASED_CALLS.count(pool) == 0
    assert (await entries(pool), await balance_of(pool)) == ([("debit", -1, 999)], 0)


async def test_an_erasure_and_the_recording_of_sent_texts_do_not_deadlock(
    services: Services, send: Callable[..., Any], erase: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    first, second = (await send()).message_id, (await send()).message_id
    gate = Gate(pool)
    calling = asyncio.create_task(hand_over(replace(handoff, connections=opened(handoff, sandbox=gate))))
    await until(lambda: is_claimed(handoff))
    await services.receipts.receive("sandbox", Receipt(f"sbx_{first}", ReceiptStatus.sent, "sent", reference=first))

    async with locked(pool, MESSAGES.where(id=second)):
        erasing = asyncio.create_task(erase())
        await until_blocked(pool)
        gate.opened.set()
        await until_blocked(pool, 2)

    assert (await erasing).deleted_messages == 2
    await calling
    assert await entries(pool) == [("debit", -1, 999), ("debit", -1, 998)]
