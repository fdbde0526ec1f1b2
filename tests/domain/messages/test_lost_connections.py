"""A connection to the database that is lost keeps no text waiting, and has none sent twice."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import asyncpg
import pytest

from app.db.claims import persist
from app.db.engine import UNREACHABLE, Pool
from app.domain.carriers.carrier import Answer, OutboundMessage
from app.domain.messages.handoff import Handoff
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.messages.handing import INVALID, TO, hand_over, reconcile, through
from tests.factories.billing import audit
from tests.factories.messages import calls, states
from tests.factories.traps import LosingPool, are_idle, lose_connections, lost_at_commit
from tests.waiting import until

UNANSWERED = "+15005550301"
"""A number whose text the sandbox takes without an answer."""


class Cutting(SandboxCarrier):
    """A carrier during whose calls every connection to the database is lost."""

    def __init__(self, pool: Pool, database_url: str) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self._database_url = database_url
        self.lost = 0

    async def send(self, message: OutboundMessage) -> Answer:
        answer = await super().send(message)
        connection = await asyncpg.connect(self._database_url)
        await until(lambda: are_idle(connection))  # the transaction in which the call began ends without the answer
        self.lost += await lose_connections(connection)
        await connection.close()
        return answer


@pytest.mark.parametrize(("to", "state"), [(TO, ("sent", None)), (INVALID, ("failed", "invalid_number"))])
async def test_the_answer_of_a_carrier_is_recorded_though_the_connection_was_lost_meanwhile(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, database_url: str, to: str, state: tuple[str, str | None]
) -> None:
    await send(to, "Hello")
    carrier = Cutting(pool, database_url)
    cutting = through(handoff, carrier)

    await cutting.run()  # once: the connection of another search for texts would be lost too
    await cutting.finish()

    assert carrier.lost > 0
    assert await states(pool) == [state]
    assert await calls(pool) == [("Hello", 1)]
    await audit(pool)


async def test_texts_whose_claim_was_lost_with_the_connection_can_be_claimed_again_at_once(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(TO, "Hello")

    async with lost_at_commit(pool, "outgoing"):
        with pytest.raises(UNREACHABLE):
            await hand_over(handoff)
    assert await calls(pool) == []
    await hand_over(handoff)

    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_texts_are_asked_for_at_once_when_the_claim_for_it_was_lost_with_the_connection(
    send: Callable[..., Any], handoff: Handoff, pool: Pool
) -> None:
    await send(UNANSWERED, "Hello")
    await hand_over(handoff)
    before = await states(pool)
    losing: Any = LosingPool(pool)

    with pytest.raises(UNREACHABLE):
        await reconcile(replace(handoff, database=replace(handoff.database, pool=losing)))
    await reconcile(handoff)

    assert (before, losing.lost) == ([("pending", None)], 1)
    assert await states(pool) == [("sent", None)]
    assert await calls(pool) == [("Hello", 1)]


async def test_recording_is_retried_no_longer_than_its_limit() -> None:
    tried: list[int] = []

    async def fail() -> None:
        tried.append(1)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        await persist(fail, 0)
    assert len(tried) == 1

    with pytest.raises(ConnectionError):
        await persist(fail, 0.2)
    assert len(tried) <= 1 + 3


async def test_a_defect_is_not_tried_again() -> None:
    tried: list[int] = []

    async def fail() -> None:
        tried.append(1)
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        await persist(fail, 10)

    assert len(tried) == 1
