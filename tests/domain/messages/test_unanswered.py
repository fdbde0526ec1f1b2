"""Texts that their carrier did not answer for: it is asked, less and less often, and nothing stays open for ever."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    FailureCode,
    OutboundMessage,
    Receipt,
    ReceiptStatus,
    Rejected,
)
from app.domain.erasure import service as erasure
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.conftest import SetClock
from tests.domain.messages.handing import hand_over, reconcile
from tests.factories.billing import audit, balance_of, entries
from tests.factories.carriers import opened
from tests.factories.clocks import Later
from tests.factories.contacts import id_of_contact
from tests.factories.events import event_names
from tests.factories.messages import MESSAGES, OUTGOING, calls, states
from tests.waiting import within

UNHEARD, UNTOLD = "+15005550302", "+15005550303"
FACTS = ("message_sent", "message_delivered", "message_failed")


class Silent(SandboxCarrier):
    """A carrier that has what it is given, answers for nothing, and counts how often it is asked."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.asked = 0

    async def send(self, message: OutboundMessage) -> Answer:
        await super().send(message)
        return Ambiguous()

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        self.asked += 1
        raise ConnectionError


class Found(Silent):
    """A carrier that answers late for each text by our reference, under the same id for all of them."""

    def __init__(self, pool: Pool, id: str) -> None:
        super().__init__(pool)
        self.id = id

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        return [Accepted(self.id, is_ours=True)]


class Failing(Silent):
    """A carrier that takes a text under an id, and says at once that it failed; it finds that one for any text."""

    answer = Rejected(FailureCode.unreachable, "30003", provider_message_id="77")

    async def send(self, message: OutboundMessage) -> Answer:
        await super().send(message)
        return self.answer

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        return [self.answer]


@pytest.fixture
def silent(handoff: Handoff, pool: Pool) -> Handoff:
    """Give what hands off to a carrier that says nothing."""
    return replace(
        handoff, connections=opened(handoff, sandbox=Silent(pool)), pace=replace(handoff.pace, ambiguous_wait=5)
    )


def after(handoff: Handoff, seconds: float) -> Handoff:
    return replace(handoff, clock=Later(timedelta(seconds=seconds)))


async def is_unconfirmed(pool: Pool) -> bool:
    return await MESSAGES.only(pool, "unconfirmed")


async def presume(silent: Handoff) -> None:
    """Let an hour pass in which the carrier says nothing."""
    await hand_over(silent)
    await reconcile(after(silent, 6))
    await reconcile(after(silent, 3700))


async def test_a_silent_carrier_is_asked_less_and_less_often(
    services: Services, send: Callable[..., Any], silent: Handoff, pool: Pool
) -> None:
    await send()
    start = services.clock.now()
    seconds = [replace(silent, clock=SetClock(start + timedelta(seconds=second))) for second in range(0, 4000, 5)]
    await hand_over(seconds[0])

    asked_at = [5 * place for place, at in enumerate(seconds) if await _asks(at)]

    assert asked_at == [5, 10, 20, 40, 80, 160, 320, 640, 1240, 1840, 2440, 3040, 3600]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def _asks(silent: Handoff) -> bool:
    if not await silent.lapsed():
        return False
    await reconcile(silent)
    return True


@pytest.mark.parametrize("id", ["", "77"])
async def test_texts_that_are_found_without_an_id_or_under_the_same_one_are_not_sent_again(
    send: Callable[..., Any], silent: Handoff, pool: Pool, id: str
) -> None:
    await send(body="One")
    await send(body="Two")
    found = replace(silent, connections=opened(silent, sandbox=Found(pool, id)))
    await hand_over(found)

    await reconcile(after(found, 6))
    await hand_over(after(found, 12))

    assert await states(pool) == [("sent", None)] * 2
    assert await calls(pool) == [("One", 1), ("Two", 1)]


async def test_the_failure_of_a_text_with_the_same_words_is_not_taken_for_that_of_another(
    services: Services, send: Callable[..., Any], silent: Handoff, handoff: Handoff, pool: Pool
) -> None:
    failing = replace(silent, connections=opened(silent, sandbox=Failing(pool)))
    first = (await send()).message_id
    await hand_over(failing)
    await send()
    await hand_over(replace(silent, connections=opened(silent, sandbox=Deaf(pool))))

    await reconcile(after(failing, 6))
    await hand_over(after(handoff, 60))

    assert await states(pool) == [("failed", "unreachable"), ("sent", None)]
    assert await MESSAGES.where(id=first).only(pool, "provider_message_id") == "77"
    assert await balance_of(pool) == 999
    await audit(pool)


async def test_a_text_that_the_carrier_took_and_failed_is_found_as_failed(
    send: Callable[..., Any], silent: Handoff, pool: Pool
) -> None:
    await send()
    await hand_over(silent)

    await reconcile(after(replace(silent, connections=opened(silent, sandbox=Failing(pool))), 6))

    assert await states(pool) == [("failed", "unreachable")]
    assert await MESSAGES.only(pool, "provider_message_id") == "77"
    await audit(pool)


async def test_a_text_without_an_answer_in_an_hour_becomes_sent_and_unconfirmed_and_is_not_refunded(
    send: Callable[..., Any], silent: Handoff, pool: Pool
) -> None:
    await send()
    await hand_over(silent)
    await reconcile(after(silent, 6))
    await reconcile(after(silent, 3590))
    before = await states(pool), await is_unconfirmed(pool)
    await reconcile(after(silent, 3700))

    assert before == ([("pending", None)], False)
    assert (await states(pool), await is_unconfirmed(pool)) == ([("sent", None)], True)
    assert await entries(pool) == [("debit", -1, 999)]
    assert await event_names(pool, *FACTS) == ["message_sent"]
    assert not await after(silent, 10**6).lapsed()
    assert not await after(silent, 10**6).due()
    assert await calls(pool) == [("Hello", 1)]
    await audit(pool)


@pytest.mark.parametrize(
    ("status", "error_code", "balance"),
    [("delivered", None, 999), ("failed", "unreachable", 1000), ("sent", None, 999)],
)
async def test_a_later_report_is_applied_to_an_unconfirmed_text(
    services: Services,
    send: Callable[..., Any],
    silent: Handoff,
    status: str,
    error_code: str | None,
    balance: int,
) -> None:
    pool, id = services.database.pool, (await send()).message_id
    await presume(silent)
    code = FailureCode(error_code) if error_code else None

    for _ in range(2):
        receipt = Receipt(f"sbx_{id}", ReceiptStatus(status), status, code, reference=id)
        await services.receipts.receive("sandbox", receipt)

    assert (await states(pool), await is_unconfirmed(pool)) == ([(status, error_code)], False)
    assert await balance_of(pool) == balance
    assert await MESSAGES.only(pool, "provider_message_id") == f"sbx_{id}"
    assert len(await event_names(pool, "message_sent")) == 1
    await audit(pool)


async def test_a_late_older_report_does_not_replace_an_unconfirmed_one(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send()).message_id
    await hand_over(handoff)

    for status in (ReceiptStatus.unconfirmed, ReceiptStatus.sent):
        await services.receipts.receive("sandbox", Receipt(f"sbx_{id}", status, status, reference=id))

    assert (await states(pool), await is_unconfirmed(pool)) == ([("sent", None)], True)


async def test_a_text_that_the_carrier_surely_does_not_have_fails_after_an_hour_and_is_refunded_once(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(UNHEARD)
    impatient = replace(handoff, pace=replace(handoff.pace, timeout=0.01, ambiguous_wait=5))
    await hand_over(impatient)
    await reconcile(after(handoff, 6))
    await hand_over(after(impatient, 600))
    await reconcile(after(handoff, 1300))
    before = await states(pool)
    await hand_over(after(impatient, 3500))
    await reconcile(after(handoff, 4200))

    assert before == [("pending", None)]
    assert await states(pool) == [("failed", "expired")]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    assert not await after(handoff, 10**6).due()


async def test_a_call_that_goes_unanswered_late_is_asked_about_before_it_is_given_up(
    send: Callable[..., Any], silent: Handoff, handoff: Handoff, pool: Pool
) -> None:
    await send()
    await hand_over(replace(silent, connections=opened(silent, sandbox=Deaf(pool))))
    await reconcile(after(handoff, 6))
    await hand_over(after(silent, 4000))
    between = await states(pool)
    await reconcile(after(handoff, 4100))

    assert between == [("pending", None)]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]
    assert await is_unconfirmed(pool) is False


async def test_a_refusal_for_now_ends_the_silence_before_it(
    send: Callable[..., Any], silent: Handoff, handoff: Handoff, pool: Pool
) -> None:
    await send()
    deaf, busy = ({"sandbox": carrier(pool)} for carrier in (Deaf, Busy))
    await hand_over(replace(silent, connections=opened(silent, **deaf)))
    await reconcile(after(handoff, 6))
    await hand_over(replace(after(handoff, 600), connections=opened(handoff, **busy)))
    await hand_over(replace(after(handoff, 7000), connections=opened(handoff, **deaf)))
    await reconcile(after(silent, 7100))
    asked = await states(pool)
    await reconcile(after(handoff, 9000))
    await hand_over(after(handoff, 9600))

    assert asked == [("pending", None)]
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]
    assert await is_unconfirmed(pool) is False


async def test_a_refusal_that_comes_late_fails_no_text_that_another_worker_has(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send()
    refusing = Refusing(pool)
    late = asyncio.create_task(hand_over(replace(handoff, connections=opened(handoff, sandbox=refusing))))
    await within("the carrier to be called", refusing.called.wait())
    [id] = await MESSAGES.read(pool, "id")
    await OUTGOING.where(message_id=id).change(pool, claimed_until=handoff.clock.now() + timedelta(hours=1))
    refusing.answering.set()
    await within("the late refusal to be recorded", late)

    assert await states(pool) == [("pending", None)]
    assert await entries(pool) == [("debit", -1, 999)]


class Busy(SandboxCarrier):
    """A carrier that takes nothing for now."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)

    async def send(self, message: OutboundMessage) -> Answer:
        return Rejected(FailureCode.carrier_error, retryable=True)


class Deaf(SandboxCarrier):
    """A carrier that never hears what it is given."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)

    async def send(self, message: OutboundMessage) -> Answer:
        return Ambiguous()


class Slow(SandboxCarrier):
    """A carrier that takes its time to answer."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.called, self.answering = asyncio.Event(), asyncio.Event()

    async def send(self, message: OutboundMessage) -> Answer:
        self.called.set()
        await within("the test to let the carrier answer", self.answering.wait())
        return Accepted("sbx_late")


class Refusing(Slow):
    """A carrier that takes its time to refuse."""

    async def send(self, message: OutboundMessage) -> Answer:
        await super().send(message)
        return Rejected(FailureCode.invalid_number)


async def test_the_sandbox_has_a_number_without_reports(
    services: Services, send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    id = (await send(UNTOLD)).message_id
    impatient = replace(handoff, pace=replace(handoff.pace, timeout=0.3, unconfirmed_after=60))
    patient = replace(impatient, pace=replace(impatient.pace, timeout=4))  # time for the database, though it is slow
    await hand_over(patient)
    for seconds in (6, 70):
        await reconcile(after(impatient, seconds))
    presumed = await states(pool), await is_unconfirmed(pool)
    report = Receipt(f"sbx_{id}", ReceiptStatus.delivered, "delivered", reference=id)
    await services.receipts.receive("sandbox", report)

    assert presumed == ([("sent", None)], True)
    assert (await states(pool), await is_unconfirmed(pool)) == ([("delivered", None)], False)


async def test_an_answer_that_comes_after_all_confirms_the_text(
    send: Callable[..., Any], silent: Handoff, pool: Pool
) -> None:
    await send()
    slow = Slow(pool)
    calling = asyncio.create_task(hand_over(replace(silent, connections=opened(silent, sandbox=slow))))
    await within("the carrier to be called", slow.called.wait())
    for seconds in (31, 3700):
        await reconcile(after(silent, seconds))
    presumed = await is_unconfirmed(pool)
    slow.answering.set()
    await calling

    assert presumed is True
    assert (await states(pool), await is_unconfirmed(pool)) == ([("sent", None)], False)
    assert await event_names(pool, *FACTS) == ["message_sent"]


async def test_an_unconfirmed_text_is_not_refunded_when_its_contact_is_erased(
    act: Callable[..., Any], send: Callable[..., Any], silent: Handoff, pool: Pool
) -> None:
    await send()
    await presume(silent)

    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool))

    assert await entries(pool) == [("debit", -1, 999)]
