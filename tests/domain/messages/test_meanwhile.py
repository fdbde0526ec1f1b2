"""Messages during concurrent changes by another process, an erasure or a failure."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import asyncpg
import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Ambiguous, Answer, OutboundMessage, Rejected
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import NotFound
from app.domain.kernel.idempotency import IdempotencyKeyReused
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import synchronous
from app.domain.messages.erased_calls import ErasedCalls
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import INVALID, Absorbed, after, hand_over, reconcile, through
from tests.domain.messages.sends import hello, nothing_was_kept
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, entries
from tests.factories.clocks import Later
from tests.factories.contacts import id_of_contact
from tests.factories.events import keep_answer
from tests.factories.messages import CARRIER_ERASURES, MESSAGES, OUTGOING, calls, states
from tests.factories.tables import ago
from tests.factories.traps import locked, table_locked, until_blocked, writes_refused
from tests.waiting import within


async def test_a_key_that_another_operation_takes_meanwhile_is_known_before_anything_is_sent(
    services: Services, actor: Actor, pool: Pool
) -> None:
    async with table_locked(pool, "idempotency_keys", "SHARE") as other:
        sending = asyncio.create_task(services.acceptor.accept(actor, hello(idempotency_key="order-1")))
        await until_blocked(pool)
        await keep_answer(other, actor.account_id, "order-1", ago())

    with pytest.raises(IdempotencyKeyReused):
        await sending

    assert await nothing_was_kept(pool)


async def test_a_text_that_is_erased_while_its_sender_waits_is_not_found_and_is_refunded(
    services: Services, actor: Actor, act: Callable[[], Any], handoff: Handoff, pool: Pool
) -> None:
    carrier = Absorbed(pool)
    sending = asyncio.create_task(synchronous.send(services.acceptor, through(handoff, carrier), actor, hello()))
    await within("the carrier to be asked", carrier.asked.wait())

    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool))
    carrier.answer.set_result(Ambiguous())
    with pytest.raises(NotFound):
        await sending
    await ErasedCalls(services.database, Later(timedelta(minutes=2)), services.notify).run()

    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    await audit(pool)


class Confused(SandboxCarrier):
    """A carrier that takes a text without an answer, and whose adapter fails when it is asked."""

    async def send(self, message: OutboundMessage) -> Answer:
        await super().send(message)
        return Ambiguous()

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        raise ValueError(f"no report of {message.reference}")


async def test_a_defect_of_an_adapter_that_is_asked_leaves_the_text_to_be_asked_for_again(
    send: Callable[..., Awaitable[Any]], handoff: Handoff, pool: Pool
) -> None:
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(str(context["exception"])))
    id = (await send()).message_id
    confused = through(handoff, Confused(pool, b"secret", 0, 10))

    await hand_over(confused)
    await reconcile(after(confused, seconds=31))
    first = await states(pool)
    await reconcile(after(handoff, hours=1))

    assert (first, reported) == ([("pending", None)], [f"no report of {id}"])
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_an_answer_that_the_database_refuses_to_keep_is_reported_and_the_carrier_is_asked_later(
    send: Callable[..., Awaitable[Any]], handoff: Handoff, pool: Pool
) -> None:
    reported: list[Exception] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))
    await send()

    async with writes_refused(pool, "messages", unless="status <> 'sent'"):
        await hand_over(handoff)
    await reconcile(after(handoff, seconds=31))

    assert [type(error) for error in reported] == [asyncpg.CheckViolationError]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_a_text_that_fails_is_locked_after_the_balance_as_everywhere(
    send: Callable[..., Awaitable[Any]], handoff: Handoff, pool: Pool
) -> None:
    await send(INVALID)

    async with locked(pool, ACCOUNTS, "FOR NO KEY UPDATE") as other:
        handing_over = asyncio.create_task(hand_over(handoff))
        await until_blocked(pool)
        await MESSAGES.lock(other, "FOR UPDATE NOWAIT")
        await OUTGOING.lock(other, "FOR UPDATE NOWAIT")
    await within("the hand-off", handing_over)

    assert await states(pool) == [("failed", "invalid_number")]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    await audit(pool)


async def test_a_text_that_is_claimed_while_it_is_erased_is_forgotten_by_its_carrier_after_the_claim(
    send: Callable[..., Awaitable[Any]], act: Callable[[], Any], pool: Pool
) -> None:
    await send()
    claimed_until = ago(minutes=-5)

    async def erase() -> None:
        async with act() as unit:
            await erasure.erase(unit, await id_of_contact(pool))

    async with locked(pool, OUTGOING) as worker:
        erasing = asyncio.create_task(erase())
        await until_blocked(pool)
        await OUTGOING.change(worker, claimed_until=claimed_until)
    await within("the erasure", erasing)

    assert await CARRIER_ERASURES.read(pool, "due_at") == [claimed_until]
    assert await OUTGOING.count(pool) == 0


async def test_the_end_of_a_worker_waits_for_the_calls_of_a_claim_that_is_being_made(
    send: Callable[..., Awaitable[Any]], handoff: Handoff, pool: Pool
) -> None:
    await send()

    async with table_locked(pool, "outgoing"):
        running = asyncio.create_task(handoff.run())
        await until_blocked(pool)
        ending = asyncio.create_task(handoff.finish())
        await asyncio.sleep(0)
    await within("the claim", running)
    await within("the end", ending)

    assert await states(pool) == [("sent", None)]
