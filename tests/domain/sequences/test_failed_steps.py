"""Steps whose texts fail after their acceptance, for causes that may pass."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Answer, FailureCode, OutboundMessage, Receipt, ReceiptStatus, Rejected
from app.domain.sequences import enrollments, service
from app.domain.sequences.definition import NewStep
from app.domain.sequences.steps import Drip
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over, through
from tests.domain.sequences.conftest import TWO, after, bodies, standing, wait
from tests.factories.billing import audit, balance_of
from tests.factories.events import event_names
from tests.factories.messages import MESSAGES, states
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCE_STEPS

FAILED = Rejected(FailureCode.carrier_error, "500")
UNREACHABLE = FailureCode.unreachable
HOURS = (1, 6, 17)


class Failing(SandboxCarrier):
    """A carrier that gives the answers of a plan, and accepts all texts after them."""

    def __init__(self, pool: Pool, *planned: Answer) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.planned = list(planned)

    async def send(self, message: OutboundMessage) -> Answer:
        return self.planned.pop(0) if self.planned else Accepted(f"sbx_{message.reference}")


@pytest.fixture
def carry(services: Services, dispatch: Callable[..., Any], pool: Pool) -> Callable[..., Awaitable[None]]:
    """Provide a function that hands over the due texts to a carrier with planned answers, and dispatches the events."""

    async def carry(*planned: Answer) -> None:
        await hand_over(through(services.handoff, Failing(pool, *planned)))
        await dispatch()

    return carry


@pytest.fixture
def skipping(act: Callable[..., Any]) -> Callable[..., Awaitable[int]]:
    """Provide a function that creates a sequence which skips refused steps, or ends with them."""

    async def skipping(skips_refused: bool) -> int:
        async with act() as unit:
            return (await service.create(unit, "Welcome", TWO, {"skips_refused": skips_refused})).id

    return skipping


async def test_a_step_whose_text_fails_for_a_cause_that_may_pass_is_sent_again(
    make: Callable[..., Any], enroll: Callable[..., Any], carry: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make())
    await drip.run()

    await carry(FAILED)

    assert (await standing(pool), await wait(pool)) == ([("active", "", 1)], timedelta(hours=1))
    assert (await SEQUENCE_STEPS.read(pool, "sent"), await balance_of(pool)) == ([0, 0], 1000)
    await after(drip, minutes=59).run()
    assert await bodies(pool) == ["Welcome, Ann!"]
    await after(drip, minutes=61).run()
    await carry()
    assert await bodies(pool) == ["Welcome, Ann!"] * 2
    assert await states(pool) == [("failed", "carrier_error"), ("sent", None)]
    assert (await standing(pool), await SEQUENCE_STEPS.read(pool, "sent")) == ([("active", "", 2)], [1, 0])
    await audit(pool)


async def test_a_step_that_a_receipt_reports_as_unreachable_is_sent_again(
    services: Services,
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    carry: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())
    await drip.run()
    await carry()

    id = await MESSAGES.only(pool, "id")
    await services.receipts.receive("sandbox", Receipt(f"sbx_{id}", ReceiptStatus.failed, "failed", UNREACHABLE))
    await carry()

    assert (await standing(pool), await wait(pool)) == ([("active", "", 1)], timedelta(hours=1))


@pytest.mark.parametrize("skips_refused", [False, True])
async def test_a_step_that_fails_four_times_ends_the_enrollment_or_is_skipped(
    skipping: Callable[..., Any],
    enroll: Callable[..., Any],
    carry: Callable[..., Any],
    drip: Drip,
    pool: Pool,
    skips_refused: bool,
) -> None:
    enrollment = await enroll(await skipping(skips_refused))

    for hours in HOURS:
        await drip.run()
        await carry(FAILED)
        assert await wait(pool) == timedelta(hours=hours)
        await SEQUENCE_ENROLLMENTS.change(pool, next_send_at=enrollment.next_send_at)
    await drip.run()
    await carry(FAILED)

    assert await standing(pool) == [("active", "", 2) if skips_refused else ("exited", "carrier_error", 2)]
    assert await bodies(pool) == ["Welcome, Ann!"] * 4
    assert (await balance_of(pool), await event_names(pool, "drip_completed")) == (1000, [])


async def test_the_last_step_is_sent_again_and_completes_the_sequence_once(
    make: Callable[..., Any], enroll: Callable[..., Any], carry: Callable[..., Any], drip: Drip, pool: Pool
) -> None:
    await enroll(await make(NewStep(0, "Only")))
    await drip.run()
    await carry(FAILED)
    assert await standing(pool) == [("active", "", 1)]

    await after(drip, minutes=61).run()
    await carry()

    assert await standing(pool) == [("completed", "", 2)]
    assert await event_names(pool, "drip_completed") == ["drip_completed"]


async def test_a_step_does_not_go_back_once_the_next_was_sent(
    services: Services,
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    carry: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    await enroll(await make())
    await drip.run()
    await carry()
    first = await MESSAGES.only(pool, "id")
    await after(drip, minutes=61).run()

    await services.receipts.receive("sandbox", Receipt(f"sbx_{first}", ReceiptStatus.failed, "failed", UNREACHABLE))
    await carry()

    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]
    assert await standing(pool) == [("completed", "", 3)]


async def test_a_step_that_fails_while_its_enrollment_is_paused_waits_for_the_end_of_the_pause(
    act: Callable[..., Any],
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    carry: Callable[..., Any],
    drip: Drip,
    pool: Pool,
) -> None:
    enrolled = await enroll(await make())
    await drip.run()
    async with act() as unit:
        await enrollments.pause(unit, enrolled.enrollment_id)

    await carry(FAILED)
    await after(drip, days=2).run()

    assert await SEQUENCE_ENROLLMENTS.only(pool, "position", "next_send_at", "remaining") == (
        1,
        None,
        timedelta(hours=1),
    )
    assert await bodies(pool) == ["Welcome, Ann!"]
