"""Sending one text and waiting for the carrier."""

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db import claims
from app.db.engine import Pool, connect
from app.domain.billing import service as billing
from app.domain.billing.service import InsufficientCredits
from app.domain.carriers.carrier import Ambiguous, Answer, FailureCode, OutboundMessage
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import outcome, synchronous
from app.domain.messages.errors import CarrierRefused, CarrierTimeout
from app.domain.messages.handoff import Handoff
from app.domain.messages.requests import Send
from app.domain.messages.synchronous import Taken
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import Slow, after, hand_over, reconcile, through
from tests.factories.billing import audit, entries
from tests.factories.clocks import Later
from tests.factories.events import event_names
from tests.factories.messages import calls, id_of_message, states
from tests.factories.traps import are_idle
from tests.waiting import until, within

TO, INVALID, RATE_LIMITED = "+12025550143", "+15005550001", "+15005550007"
UNANSWERED = "+15005550301"


class Mute(SandboxCarrier):
    """A carrier that hears of a text or does not, and says nothing."""

    def __init__(self, pool: Pool, *, hears: bool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self._hears = hears
        self._taking: asyncio.Task[Answer] | None = None

    async def send(self, message: OutboundMessage) -> Answer:
        if self._hears:
            self._taking = asyncio.create_task(super().send(message))
            await asyncio.shield(self._taking)
        return Ambiguous()

    async def rest(self) -> None:
        """Wait until what was heard is written down, however little time the sender had."""
        if self._taking:
            await self._taking


@pytest.fixture
def send(services: Services, actor: Actor, handoff: Handoff) -> Callable[..., Any]:
    """Give a function that sends a text and waits."""

    async def send(to: str = TO, through: Handoff = handoff, **wishes: Any) -> Taken:
        wish = Send(to, "Hello", consent_attested=True, **wishes)
        return await synchronous.send(services.acceptor, through, actor, wish)

    return send


def hasty(handoff: Handoff, carrier: SandboxCarrier) -> Handoff:
    """Return what waits for a carrier a moment only."""
    return replace(through(handoff, carrier), pace=replace(handoff.pace, timeout=0.3))


async def test_a_text_is_with_the_carrier_when_the_sender_is_told(
    send: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    taken = await send()

    id = await id_of_message(pool)
    assert taken == Taken(id, account.phone_number, TO, 1, replayed=False)
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]
    assert await entries(pool) == [("debit", -1, 999)]
    assert await event_names(pool, "message_sent") == ["message_sent"]


async def test_no_worker_takes_up_a_text_that_its_sender_hands_over(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    carrier = Slow(pool)
    sending = asyncio.create_task(send(through=through(handoff, carrier)))
    await within("the carrier to be asked", carrier.asked.wait())

    due = await handoff.due(), await handoff.lapsed()
    await hand_over(handoff)
    carrier.permitted.set()
    await sending

    assert due == (False, False)
    assert await calls(pool) == [("Hello", 1)]


async def test_no_transaction_is_open_while_the_carrier_thinks(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    carrier = Slow(pool)
    sending = asyncio.create_task(send(through=through(handoff, carrier)))
    await within("the carrier to be asked", carrier.asked.wait())

    async with pool.acquire() as observer:
        # The transaction in which the call began ends without the answer.
        assert await until(lambda: are_idle(observer))
    carrier.permitted.set()
    await sending


async def test_a_refused_text_is_refunded_and_the_sender_is_told_why(send: Callable[..., Any], pool: Pool) -> None:
    with pytest.raises(CarrierRefused) as refused:
        await send(INVALID)

    id = await id_of_message(pool)
    assert str(refused.value) == (
        f"Message {id} was not sent (invalid_number). The number does not exist or is no longer in service. Correct "
        "the contact's phone, or delete the contact. Its credits were refunded."
    )
    assert await states(pool) == [("failed", "invalid_number")]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    await audit(pool)


async def test_a_refused_send_reaches_no_carrier(send: Callable[..., Any], act: Callable[..., Any], pool: Pool) -> None:
    async with act() as unit:
        await billing.grant(unit, -1000, "Spent")

    with pytest.raises(InsufficientCredits):
        await send()

    assert (await states(pool), await calls(pool)) == ([], [])


@pytest.mark.parametrize(("hears", "reached"), [(True, [("Hello", 1)]), (False, [])])
async def test_an_unanswered_text_is_neither_refunded_nor_sent_again_before_the_carrier_is_asked(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, hears: bool, reached: list[Any]
) -> None:
    carrier = Mute(pool, hears=hears)
    with pytest.raises(CarrierTimeout) as unanswered:
        await send(through=hasty(handoff, carrier))
    await carrier.rest()

    id = await id_of_message(pool)
    assert str(unanswered.value).startswith(f"The carrier has not confirmed message {id} yet. Do not send it again")
    assert await states(pool) == [("pending", None)]
    assert await entries(pool) == [("debit", -1, 999)]
    assert await calls(pool) == reached
    assert not await handoff.due()


async def test_an_unanswered_text_that_the_carrier_has_is_found_and_its_sender_can_ask_again_by_its_key(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    carrier = Mute(pool, hears=True)
    with pytest.raises(CarrierTimeout):
        await send(through=hasty(handoff, carrier), idempotency_key="key 1")
    await carrier.rest()
    await reconcile(replace(handoff, clock=Later(timedelta(minutes=1))))

    again = await send(idempotency_key="key 1")

    assert (again.replayed, await states(pool)) == (True, [("sent", None)])
    assert await calls(pool) == [("Hello", 1)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_sender_that_dies_at_the_carrier_leaves_a_text_that_is_found_and_not_sent_again(
    services: Services, actor: Actor, handoff: Handoff, pool: Pool
) -> None:
    wish = Send(UNANSWERED, "Hello", consent_attested=True, claim=timedelta(seconds=30))
    accepted = await services.acceptor.accept(actor, wish)
    assert accepted.claimed_until
    sending = asyncio.create_task(handoff.hand_over(accepted.message_id, accepted.claimed_until))
    await until(lambda: calls(pool))
    sending.cancel()
    await within("sending to end", asyncio.wait([sending]))
    later = replace(handoff, clock=Later(timedelta(minutes=1)))

    assert not await later.due()
    await reconcile(later)
    await hand_over(later)

    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_a_text_that_the_carrier_takes_later_is_waited_for(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    patient = replace(handoff, pace=replace(handoff.pace, timeout=60, lease=100))
    sending = asyncio.create_task(send(RATE_LIMITED, through=patient))

    for minutes in itertools.count(1):
        await hand_over(replace(patient, clock=Later(timedelta(minutes=minutes))))
        if sending.done():
            break
        await asyncio.sleep(0.01)

    assert (await sending).to_number == RATE_LIMITED
    assert await calls(pool) == [("Hello", 3)]


async def test_the_same_key_answers_the_same_and_sends_once(send: Callable[..., Any], pool: Pool) -> None:
    answers = await asyncio.gather(*(send(idempotency_key="key 1") for _ in range(3)))

    assert sorted(each.replayed for each in answers) == [False, True, True]
    assert len({replace(each, replayed=False) for each in answers}) == 1
    assert await calls(pool) == [("Hello", 1)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_the_same_key_answers_the_same_when_the_network_has_lost_the_text_since(
    send: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    first = await send(idempotency_key="key 1")
    async with act() as unit:
        await outcome.fail(unit, first.message_id, FailureCode.unreachable)

    again = await send(idempotency_key="key 1")

    assert again == replace(first, replayed=True)
    assert await states(pool) == [("failed", "unreachable")]
    assert await calls(pool) == [("Hello", 1)]


async def test_the_same_key_refuses_the_same(send: Callable[..., Any], pool: Pool) -> None:
    refusals = []
    for _ in range(2):
        with pytest.raises(CarrierRefused) as refused:
            await send(INVALID, idempotency_key="key 1")
        refusals.append(str(refused.value))

    assert refusals[0] == refusals[1]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_text_whose_carrier_is_cut_off_must_not_be_sent_again(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    class Cut(SandboxCarrier):
        async def send(self, message: OutboundMessage) -> Answer:
            await super().send(message)
            raise ConnectionResetError

    with pytest.raises(CarrierTimeout):
        await send(through=hasty(handoff, Cut(pool, b"secret", 0, 10)))

    assert await states(pool) == [("pending", None)]
    assert not await handoff.due()


async def test_a_text_whose_answer_cannot_be_recorded_must_not_be_sent_again(
    send: Callable[..., Any], services: Services, handoff: Handoff, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    persist = claims.persist
    monkeypatch.setattr(claims, "persist", lambda record, _: persist(record, 0.5))
    assert services.settings.database_url
    lost = await connect(services.settings.database_url, 1)

    class Last(SandboxCarrier):
        async def send(self, message: OutboundMessage) -> Answer:
            answer = await super().send(message)
            await lost.close()
            return answer

    with pytest.raises(CarrierTimeout):
        await send(through=replace(through(handoff, Last(pool, b"secret", 0, 10)), database=lost))

    assert await calls(pool) == [("Hello", 1)]
    assert await states(pool) == [("pending", None)]
    assert not await after(handoff, seconds=31).due()


async def test_a_claim_that_has_lapsed_is_anothers(
    send: Callable[..., Any], services: Services, actor: Actor, handoff: Handoff, pool: Pool
) -> None:
    wish = Send(TO, "Hello", consent_attested=True, claim=timedelta(seconds=30))
    accepted = await services.acceptor.accept(actor, wish)
    assert accepted.claimed_until
    await reconcile(replace(handoff, clock=Later(timedelta(seconds=31))))

    await handoff.hand_over(accepted.message_id, accepted.claimed_until)

    assert await calls(pool) == []
    await hand_over(replace(handoff, clock=Later(timedelta(minutes=2))))
    assert await calls(pool) == [("Hello", 1)]
