"""How many promotional texts a process works on while urgent texts come."""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Accepted, Answer, OutboundMessage
from app.domain.messages import outgoing, promotions
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.messages.promotions import AT_MOST, AT_ONCE, BESIDE_URGENT, Promotions
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from tests.domain.messages.handing import through
from tests.factories.messages import OUTGOING, states
from tests.factories.traps import VisitedPool
from tests.waiting import until, within

MANY = 3 * BESIDE_URGENT


class Held(SandboxCarrier):
    """A carrier that answers promotions when it is told to, and other texts at once."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.given: list[str] = []
        self.may_answer = asyncio.Event()

    async def send(self, message: OutboundMessage) -> Answer:
        self.given.append(message.body)
        if message.body == "promotion":
            await within("the end of the wait", self.may_answer.wait())
        return Accepted(f"held_{message.reference}")


@pytest.fixture(autouse=True)
def urgent_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the time after an urgent text outlast each test."""
    monkeypatch.setattr(promotions, "URGENT_SECONDS", 1000.0)


@pytest.fixture
def carrier(pool: Pool) -> Held:
    """Give a carrier that answers no promotion yet."""
    return Held(pool)


async def test_few_promotions_are_begun_at_a_time_while_urgent_texts_come_and_the_others_follow(
    send: Callable[..., Any], handoff: Handoff, carrier: Held, pool: Pool
) -> None:
    carrier.may_answer.set()
    await _send_many(send)
    await send(body="code")
    may_begin = asyncio.Event()

    async def hold(statement: str, is_done: bool) -> None:
        if statement == outgoing.FIND_CLAIMED and not is_done and carrier.given:
            await within("the count of the claims", may_begin.wait())

    visited: Any = VisitedPool(pool, hold)
    running = replace(through(handoff, carrier), database=replace(handoff.database, pool=visited))
    announced = asyncio.Event()
    running.sends.watch(announced.set)
    await _run(running)
    claimed = MANY - await _count_waiting(pool)
    announced.clear()
    may_begin.set()

    assert claimed == BESIDE_URGENT
    await within("room for more", announced.wait())
    await until(lambda: _hand_on(running, carrier))
    await running.finish()
    assert await states(pool) == [("sent", None)] * (MANY + 1)


async def test_promotions_that_wait_for_their_carrier_leave_room_for_others_beside_urgent_texts(
    send: Callable[..., Any], handoff: Handoff, carrier: Held, pool: Pool
) -> None:
    await _send_many(send)
    await send(body="code")
    running = through(handoff, carrier)

    await until(lambda: _hand_on(running, carrier))

    carrier.may_answer.set()
    await running.finish()
    assert await states(pool) == [("sent", None)] * (MANY + 1)


async def test_without_urgent_texts_more_promotions_are_begun_at_once(
    send: Callable[..., Any], handoff: Handoff, carrier: Held, pool: Pool
) -> None:
    await _send_many(send)
    running = through(handoff, carrier)

    await running.run()

    assert await _count_waiting(pool) == MANY - min(MANY, AT_ONCE)
    carrier.may_answer.set()
    await running.finish()


async def test_promotions_rest_for_as_long_as_the_last_ones_took_while_urgent_texts_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, announced = [100.0], asyncio.Event()
    monkeypatch.setattr(promotions, "_now", lambda: now[0])
    limited = Promotions(announced.set)
    limited.note_urgent()

    assert limited.find_room() == BESIDE_URGENT
    with ExitStack() as texts:
        _begin(limited, texts, BESIDE_URGENT)
        assert limited.find_room() == 0
        now[0] += 0.25
    now[0] += 0.2
    assert limited.find_room() == 0
    await within("the end of the rest", announced.wait())
    assert limited.find_room() == BESIDE_URGENT


async def test_the_first_urgent_text_waits_for_few_promotions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotions, "_now", lambda: 100.0)
    announced: list[bool] = []
    limited = Promotions(lambda: announced.append(True))

    with ExitStack() as others:
        _begin(limited, others, AT_MOST // 2)
        with ExitStack() as texts:
            _begin(limited, texts, AT_MOST // 2)
            assert limited.find_room() == 0

        assert announced == [True]
        assert limited.find_room() == AT_ONCE


def _begin(limited: Promotions, texts: ExitStack, count: int) -> None:
    for _ in range(count):
        texts.enter_context(limited.work())


async def _send_many(send: Callable[..., Any]) -> None:
    await asyncio.gather(*(send(body="promotion", purpose=Purpose.promotional) for _ in range(MANY)))


async def _run(running: Handoff) -> None:
    while await running.run():
        pass


async def _hand_on(running: Handoff, carrier: Held) -> bool:
    await _run(running)
    return len(carrier.given) == MANY + 1


async def _count_waiting(pool: Pool) -> int:
    return await OUTGOING.where(lane=outgoing.PROMOTIONAL, claimed_until=None).count(pool)
