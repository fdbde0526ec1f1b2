"""The confirmation of an opt-out leaves within five minutes of it, or not at all (47 CFR 64.1200(a)(12))."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import FailureCode, InboundMessage, OutboundMessage, Rejected
from app.domain.messages.handoff import Handoff
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over, through
from tests.domain.messages.replies import STOPPED, TO, contact, replies
from tests.factories.billing import audit, entries
from tests.factories.clocks import At
from tests.factories.messages import OUTBOUND, OUTGOING, calls

MIDNIGHT = datetime(2030, 1, 16, 5, tzinfo=UTC)
"""An instant in the quiet hours of the recipient, which a confirmation does not wait for."""

LIMIT, MOMENT = timedelta(minutes=5), timedelta(seconds=1)


class Overloaded(SandboxCarrier):
    """A carrier that takes no texts for now."""

    async def send(self, message: OutboundMessage) -> Rejected:
        return Rejected(FailureCode.carrier_error, "503", retryable=True)


@pytest.fixture
def clock() -> At:
    """Provide a clock that stands."""
    return At(MIDNIGHT)


@pytest.fixture
def stop(services: Services, account: Opened, clock: At) -> Callable[..., Awaitable[None]]:
    """Provide a function that receives STOP at the time of the clock; the carrier says when it was sent."""

    async def stop(at: datetime | None = None) -> None:
        inbound = InboundMessage("in-1", TO, account.phone_number, "STOP", at)
        await replace(services.inbox, clock=clock).receive("sandbox", inbound)

    return stop


@pytest.mark.parametrize("at", [MIDNIGHT - LIMIT, MIDNIGHT + timedelta(hours=1), None])
async def test_an_opt_out_of_the_last_five_minutes_is_confirmed(
    stop: Callable[..., Any], handoff: Handoff, clock: At, pool: Pool, at: datetime | None
) -> None:
    await stop(at)

    await hand_over(replace(handoff, clock=clock))

    assert await calls(pool) == [(STOPPED, 1)]


async def test_an_opt_out_that_comes_later_holds_without_a_confirmation(
    stop: Callable[..., Any], handoff: Handoff, clock: At, pool: Pool
) -> None:
    await stop(MIDNIGHT - LIMIT - MOMENT)

    await hand_over(replace(handoff, clock=clock))

    assert (await contact(pool))["status"] == "opted_out"
    assert (await replies(pool), await calls(pool)) == ([], [])


async def test_a_confirmation_that_could_not_leave_in_time_does_not_leave(
    stop: Callable[..., Any], handoff: Handoff, clock: At, pool: Pool
) -> None:
    await stop()
    clock.instant += LIMIT + MOMENT

    await hand_over(replace(handoff, clock=clock))

    assert (await contact(pool))["status"] == "opted_out"
    assert await calls(pool) == []
    assert await OUTBOUND.only(pool, "status", "error_code", "credits") == ("failed", "expired", 0)
    assert (await OUTGOING.count(pool), await entries(pool)) == (0, [])
    await audit(pool)


async def test_a_confirmation_that_its_carrier_refuses_for_now_is_tried_for_five_minutes(
    stop: Callable[..., Any], handoff: Handoff, clock: At, pool: Pool
) -> None:
    await stop()
    await hand_over(through(replace(handoff, clock=clock), Overloaded(pool, b"secret", 0, 10)))
    assert await OUTBOUND.only(pool, "status") == "pending"

    clock.instant += timedelta(minutes=4)
    await hand_over(replace(handoff, clock=clock))

    assert await calls(pool) == [(STOPPED, 1)]
