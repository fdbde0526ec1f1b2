"""Texts of callers that wait for the carrier: no claim is kept whose call never began."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import synchronous
from app.domain.messages.handoff import Handoff
from app.domain.messages.requests import Acceptance, Send
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import TO, Slow, after, hand_over, reconcile, through
from tests.factories.billing import entries
from tests.factories.carriers import change_connection
from tests.factories.messages import OUTGOING, calls, states
from tests.factories.traps import AwayPool
from tests.waiting import within

WISH = Send(TO, "Hello", consent_attested=True)


@pytest.fixture
def accept(services: Services, actor: Actor) -> Callable[[], Awaitable[Acceptance]]:
    """Give a function that accepts a text with a claim."""
    wish = replace(WISH, claim=timedelta(seconds=30))
    return lambda: services.acceptor.accept(actor, wish)


async def leave(caller: asyncio.Task[Any]) -> None:
    """Cancel a caller, as a client that leaves does."""
    caller.cancel()
    await within("the caller to end", asyncio.wait([caller]))


async def test_a_text_whose_caller_leaves_during_the_acceptance_is_handed_over(
    services: Services, actor: Actor, handoff: Handoff, pool: Pool
) -> None:
    caller = asyncio.create_task(synchronous.send(services.acceptor, handoff, actor, WISH))
    await asyncio.sleep(0)
    await asyncio.sleep(0)  # the work of the caller begins

    await leave(caller)
    await services.acceptor.close()
    await handoff.close()

    assert caller.cancelled()
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_the_answer_about_a_text_whose_caller_leaves_during_the_call_is_recorded(
    services: Services, actor: Actor, handoff: Handoff, pool: Pool
) -> None:
    slow = Slow(pool)
    kept = through(handoff, slow)
    caller = asyncio.create_task(synchronous.send(services.acceptor, kept, actor, WISH))
    await within("the carrier to be asked", slow.asked.wait())

    await leave(caller)
    slow.permitted.set()
    await kept.close()

    assert await states(pool) == [("sent", None)]
    assert await entries(pool) == [("debit", -1, 999)]


async def test_the_end_of_the_process_does_not_wait_for_a_slow_carrier(
    services: Services, actor: Actor, handoff: Handoff, pool: Pool
) -> None:
    slow = Slow(pool)
    kept = through(handoff, slow)
    caller = asyncio.create_task(synchronous.send(services.acceptor, kept, actor, WISH))
    await within("the carrier to be asked", slow.asked.wait())
    await leave(caller)

    await kept.close()
    unanswered = await OUTGOING.read(pool, "unanswered_since")
    slow.permitted.set()
    await reconcile(after(kept, minutes=1))
    await hand_over(after(kept, minutes=2))

    assert unanswered == [None]  # the call had not ended
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


@pytest.mark.parametrize("change", [{"status": "paused"}, {"role": "smpp"}])
async def test_a_text_that_this_process_may_not_hand_over_is_accepted_without_a_claim(
    services: Services, accept: Callable[[], Awaitable[Acceptance]], pool: Pool, change: dict[str, str]
) -> None:
    await change_connection(pool, "sandbox", **change)
    services.connections.expire()

    accepted = await accept()

    assert accepted.claimed_until is None
    assert await OUTGOING.read(pool, "claimed_until", "attempts") == [(None, 0)]


async def test_a_claim_is_given_back_though_the_database_is_away_for_a_moment(
    accept: Callable[[], Awaitable[Acceptance]], handoff: Handoff, pool: Pool
) -> None:
    accepted, away = await accept(), AwayPool(pool)
    assert accepted.claimed_until
    await change_connection(pool, "sandbox", status="paused")

    lossy: Any = away
    lost = replace(handoff, database=replace(handoff.database, pool=lossy))
    await lost.hand_over(accepted.message_id, accepted.claimed_until)

    assert away.lost == {"fetch", "execute"}
    assert await OUTGOING.read(pool, "claimed_until", "attempts") == [(None, 0)]


async def test_a_claim_is_given_back_when_the_connections_cannot_be_read(
    accept: Callable[[], Awaitable[Acceptance]], handoff: Handoff, pool: Pool
) -> None:
    accepted, away = await accept(), AwayPool(pool)
    assert accepted.claimed_until
    unread = through(handoff, SandboxCarrier(pool, b"secret", 0, 10))
    lossy: Any = away
    unread.connections.pool = lossy

    await unread.hand_over(accepted.message_id, accepted.claimed_until)
    between = await OUTGOING.read(pool, "claimed_until", "attempts"), await calls(pool)
    await hand_over(handoff)

    assert "ask" in away.lost
    assert between == ([(None, 0)], [])
    assert await states(pool) == [("sent", None)]
