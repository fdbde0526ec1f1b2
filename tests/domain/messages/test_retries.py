"""Texts that carriers refuse for a cause that passes: the limit of a day, and the hours of a carrier."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Answer, FailureCode, OutboundMessage, Receipt, ReceiptStatus, Rejected
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import synchronous
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.errors import CarrierRefused
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.receipts.journal import Receipts
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.domain.quiet_hours.windows import JITTER
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over, through
from tests.domain.messages.sends import TO, hello
from tests.factories.billing import audit, entries
from tests.factories.clocks import At
from tests.factories.events import event_names
from tests.factories.messages import MESSAGES, OUTGOING, RECEIPTS, UNMATCHED_RECEIPTS, states
from tests.factories.quiet_hours import CAPPED_TEXTS, obey_the_law

FLORIDA = "+13052345678"
NOON = datetime(2030, 1, 15, 17, tzinfo=UTC)
"""A Tuesday noon in the east of the USA."""

DAY = timedelta(days=1)
DAILY_CAP, HOURS = FailureCode.daily_cap, FailureCode.quiet_hours_carrier


class Numbering(SandboxCarrier):
    """A carrier that gives each call an id of its own, and first the answers that a test planned."""

    def __init__(self, pool: Pool, *planned: Answer) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.planned, self.calls = list(planned), 0

    async def send(self, message: OutboundMessage) -> Answer:
        self.calls += 1
        return self.planned.pop(0) if self.planned else Accepted(f"call-{self.calls}")


@pytest.fixture
def clock() -> At:
    """Provide a clock that stands at noon."""
    return At(NOON)


@pytest.fixture
def receipts(services: Services, clock: At) -> Receipts:
    """Provide the journal of receipts with that clock."""
    return Receipts(services.database, clock, services.notify, services.handoff.health)


@pytest.fixture
def refuse(receipts: Receipts) -> Callable[..., Awaitable[None]]:
    """Provide a function that reports an attempt as failed for a cause that passes."""

    async def refuse(id: str = "call-1", code: FailureCode = DAILY_CAP, **words: Any) -> None:
        await receipts.receive("sandbox", failed(id, code, **words))

    return refuse


@pytest.fixture
def carrier(pool: Pool) -> Numbering:
    """Provide a carrier that accepts every text."""
    return Numbering(pool)


@pytest.fixture
def hand(handoff: Handoff, clock: At, carrier: Numbering) -> Callable[[], Awaitable[None]]:
    """Provide a function that hands over the due texts at the time of the clock."""
    return lambda: hand_over(through(replace(handoff, clock=clock), carrier))


@pytest.fixture
async def send(services: Services, actor: Actor, clock: At, pool: Pool) -> Callable[..., Awaitable[Acceptance]]:
    """Provide a function that sends a text at the time of the clock; the account obeys the rules of law only."""
    await obey_the_law(pool)
    acceptor = SendAcceptor(services.database.pool, clock, services.notify, services.connections)

    async def send(to: str = TO, **wishes: Any) -> Acceptance:
        return await acceptor.accept(actor, hello(to, **wishes))

    return send


def failed(id: str, code: FailureCode, **words: Any) -> Receipt:
    return Receipt(id, ReceiptStatus.failed, "undelivered", code, "30023", **words)


async def test_a_text_beyond_the_daily_cap_of_a_carrier_is_tried_again_the_next_day_at_one_price(
    send: Callable[..., Any], hand: Callable[[], Any], receipts: Receipts, carrier: Numbering, clock: At, pool: Pool
) -> None:
    await send()
    await hand()

    await receipts.receive("sandbox", failed("call-1", DAILY_CAP))
    await hand()

    waiting = await MESSAGES.only(pool, "status", "sent_at", "deferred_until", "deferral_rule", "carrier_error")
    assert waiting == ("pending", None, NOON + DAY, "carrier.daily_cap", None)
    assert (await OUTGOING.only(pool, "due_at", "expires_at"), carrier.calls) == ((NOON + DAY, None), 1)
    assert (await entries(pool), await event_names(pool, "message_failed")) == ([("debit", -1, 999)], [])
    clock.instant = NOON + DAY
    await hand()
    await receipts.receive("sandbox", Receipt("call-2", ReceiptStatus.delivered, "delivered"))
    assert await MESSAGES.only(pool, "status", "provider_message_id") == ("delivered", "call-2")
    assert (carrier.calls, await OUTGOING.count(pool), await entries(pool)) == (2, 0, [("debit", -1, 999)])
    await audit(pool)


async def test_a_text_that_the_hours_of_a_carrier_refuse_is_tried_again_when_our_window_opens(
    send: Callable[..., Any], hand: Callable[[], Any], receipts: Receipts, clock: At, pool: Pool
) -> None:
    await send(FLORIDA, purpose=Purpose.promotional)
    await hand()
    clock.instant = NOON + timedelta(hours=7, minutes=30)

    await receipts.receive("sandbox", failed("call-1", HOURS))

    opening = datetime(2030, 1, 16, 13, tzinfo=UTC)
    due_at, expires_at = await OUTGOING.only(pool, "due_at", "expires_at")
    assert opening <= due_at <= opening + JITTER
    assert expires_at == NOON + timedelta(hours=72)
    assert await CAPPED_TEXTS.only(pool, "at", "has_left") == (due_at, False)
    assert await MESSAGES.only(pool, "status", "deferral_rule", "deferral_zones") == (
        "pending",
        "carrier.quiet_hours",
        ["America/New_York"],
    )


@pytest.mark.parametrize("code", [DAILY_CAP, HOURS])
async def test_a_refusal_at_the_call_that_passes_is_tried_again_too(
    send: Callable[..., Any], hand: Callable[[], Any], carrier: Numbering, pool: Pool, code: FailureCode
) -> None:
    carrier.planned.append(Rejected(code, "30023", provider_message_id="call-0"))
    await send()

    await hand()

    due_at, claimed_until = await OUTGOING.only(pool, "due_at", "claimed_until")
    assert (due_at > NOON, claimed_until, await states(pool)) == (True, None, [("pending", None)])
    assert await MESSAGES.only(pool, "deferred_until") == due_at
    assert await entries(pool) == [("debit", -1, 999)]


async def test_a_refusal_at_a_call_whose_caller_waits_fails_the_text_at_once(
    services: Services, handoff: Handoff, actor: Actor, carrier: Numbering, pool: Pool
) -> None:
    carrier.planned.append(Rejected(DAILY_CAP, "30023"))

    with pytest.raises(CarrierRefused):
        await synchronous.send(services.acceptor, through(handoff, carrier), actor, hello())

    assert (await states(pool), await OUTGOING.count(pool)) == ([("failed", "daily_cap")], 0)
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_text_that_is_refused_for_three_days_fails_and_is_refunded(
    send: Callable[..., Any], hand: Callable[[], Any], refuse: Callable[..., Any], clock: At, pool: Pool
) -> None:
    await send()

    for call in range(1, 5):
        await hand()
        await refuse(f"call-{call}")
        clock.instant += DAY

    assert (await states(pool), await OUTGOING.count(pool)) == ([("failed", "daily_cap")], 0)
    assert await event_names(pool, "message_failed") == ["message_failed"]
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]
    await audit(pool)


async def test_a_second_report_on_the_refused_attempt_changes_nothing(
    send: Callable[..., Any], hand: Callable[[], Any], receipts: Receipts, pool: Pool
) -> None:
    accepted = await send()
    await hand()
    refusal = failed("call-1", DAILY_CAP, reference=accepted.message_id)

    for raw in ("undelivered", "failed", "undelivered"):
        await receipts.receive("sandbox", replace(refusal, raw_status=raw))
    await receipts.receive("sandbox", replace(refusal, status=ReceiptStatus.delivered, raw_status="delivered"))

    assert await states(pool) == [("pending", None)]
    assert await RECEIPTS.read(pool, "raw_status") == ["undelivered"]
    assert await UNMATCHED_RECEIPTS.count(pool) == 0


async def test_a_refusal_that_overtakes_the_answer_of_its_call_waits_for_it(
    send: Callable[..., Any], hand: Callable[[], Any], receipts: Receipts, pool: Pool
) -> None:
    accepted = await send()
    await receipts.receive("sandbox", failed("call-1", DAILY_CAP, reference=accepted.message_id))
    assert await states(pool) == [("pending", None)]

    await hand()
    assert await receipts.match()

    assert await MESSAGES.only(pool, "status", "deferral_rule") == ("pending", "carrier.daily_cap")
    assert await OUTGOING.only(pool, "due_at") == NOON + DAY


async def test_a_text_that_calls_refuse_for_three_days_fails_and_is_refunded(
    send: Callable[..., Any], hand: Callable[[], Any], carrier: Numbering, clock: At, pool: Pool
) -> None:
    carrier.planned.extend([Rejected(DAILY_CAP, "30023")] * 4)
    await send()

    for _ in range(4):
        await hand()
        clock.instant += DAY

    assert (await states(pool), carrier.calls) == ([("failed", "daily_cap")], 4)
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_an_opt_out_ends_the_wait_for_the_next_day(
    send: Callable[..., Any], hand: Callable[[], Any], refuse: Callable[..., Any], text: Callable[..., Any], pool: Pool
) -> None:
    await send()
    await hand()
    await refuse()

    await text("STOP")

    assert (await states(pool))[0] == ("failed", "contact_opted_out")
    assert await MESSAGES.where(purpose="transactional").only(pool, "cost") == 0
    assert await entries(pool) == [("debit", -1, 999), ("refund", 1, 1000)]


async def test_a_reply_that_the_law_requires_is_not_sent_a_day_late(
    account: Opened, text: Callable[..., Any], handoff: Handoff, services: Services, pool: Pool
) -> None:
    await text("STOP")
    await hand_over(through(handoff, Numbering(pool)))

    await services.receipts.receive("sandbox", failed("call-1", DAILY_CAP))

    assert await states(pool) == [("failed", "daily_cap")]
    assert await OUTGOING.count(pool) == 0
