"""Texts of a number that is released, or whose connection is to be removed: each ends once, and none is lost."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.carriers import queries
from app.domain.carriers.carrier import Accepted, FailureCode, Rejected
from app.domain.carriers.errors import ConnectionInUse
from app.domain.messages import connections
from app.domain.messages.handoff import Handoff
from app.domain.messages.sending import cancellation
from app.domain.numbers import senders
from app.domain.numbers.senders import NewNumber
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import Absorbed, hand_over
from tests.factories.billing import audit, balance_of
from tests.factories.carriers import CONNECTIONS, add_connection, change_connection, opened
from tests.factories.messages import MESSAGES, OUTGOING, SANDBOX_MESSAGES, states
from tests.factories.numbers import add_number
from tests.factories.tables import ago
from tests.factories.traps import until_blocked
from tests.waiting import within

NUMBER = "+14155550100"
RELEASED = ("failed", "number_released")


@dataclass(frozen=True, slots=True)
class Administration:
    """Changes the number and the connection of the texts."""

    services: Services
    act: Callable[[], Any]
    number: int

    async def release(self) -> None:
        async with self.act() as unit:
            await connections.release_number(unit, self.number)

    async def move(self, key: str) -> None:
        async with self.act() as unit:
            connection = await queries.get_any(unit, key)
            await connections.move_number(unit, self.services.carriers, self.number, connection)

    async def remove(self) -> None:
        async with self.act() as unit:
            await connections.remove(unit, self.services.carriers, await queries.get_any(unit, "second"))


@pytest.fixture
async def administration(pool: Pool, account: Opened, services: Services, act: Callable[[], Any]) -> Administration:
    """Provide a number of a second connection."""
    await add_connection(pool, "second")
    services.connections.expire()
    return Administration(services, act, await add_number(pool, account.account_id, NUMBER, carrier="second"))


def through(handoff: Handoff, pool: Pool, second: SandboxCarrier | None = None) -> Handoff:
    """Return the hand-off with both connections."""
    second = second or SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    second.key = "second"
    first = SandboxCarrier(pool, b"secret", delay=0, timeout=10)
    return replace(handoff, connections=opened(handoff, sandbox=first, second=second))


async def test_waiting_texts_fail_and_are_refunded_at_once_also_deferred_held_and_paused_ones(
    send: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    administration: Administration,
) -> None:
    before = await balance_of(pool)
    await send(body="another number's")
    texts = [
        (await send(body=body, from_phone_number_id=administration.number)).message_id
        for body in ("due", "deferred", "held")
    ]
    await OUTGOING.where(message_id=texts[1]).change(pool, due_at=ago(seconds=-86_400))
    async with administration.act() as unit:
        await cancellation.hold(unit, texts[2:])
    await change_connection(pool, "second", status="paused")

    await administration.release()
    await administration.remove()
    await hand_over(through(handoff, pool))

    assert await states(pool) == [("sent", None), RELEASED, RELEASED, RELEASED]
    assert await MESSAGES.read(pool, "carrier") == ["sandbox", "second", "second", "second"]
    assert (await SANDBOX_MESSAGES.count(pool), await OUTGOING.count(pool)) == (1, 0)
    assert await balance_of(pool) == before - 1
    await audit(pool)


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        (Accepted("note_1"), ("sent", None)),
        (Rejected(FailureCode.rate_limited, retryable=True, retry_after=timedelta(minutes=9)), RELEASED),
    ],
    ids=["accepted", "refused for now"],
)
async def test_a_text_in_flight_ends_with_the_answer_of_the_carrier(
    send: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    administration: Administration,
    answer: Accepted | Rejected,
    state: tuple[str, str | None],
) -> None:
    slow = Absorbed(pool)
    handoff = through(handoff, pool, slow)
    await send(from_phone_number_id=administration.number)
    calling = asyncio.create_task(hand_over(handoff))
    await within("the call", slow.asked.wait())

    await administration.release()
    with pytest.raises(ConnectionInUse) as refused:
        await administration.remove()
    slow.answer.set_result(answer)
    await calling
    await administration.remove()
    await hand_over(handoff)

    assert (refused.value.facts["numbers"], refused.value.facts["texts"]) == (0, 1)
    assert await states(pool) == [state]
    assert await CONNECTIONS.read(pool, "key") == ["sandbox"]
    await audit(pool)


async def test_a_text_that_is_put_back_while_its_number_is_released_fails_at_once(
    send: Callable[..., Any], handoff: Handoff, pool: Pool, administration: Administration
) -> None:
    slow = Absorbed(pool)
    handoff = through(handoff, pool, slow)
    await send(from_phone_number_id=administration.number)
    calling = asyncio.create_task(hand_over(handoff))
    await within("the call", slow.asked.wait())

    async with administration.act() as unit:
        await connections.release_number(unit, administration.number)
        slow.answer.set_result(Rejected(FailureCode.carrier_error, retryable=True))
        await until_blocked(pool)
    await calling
    await hand_over(handoff)

    assert await states(pool) == [RELEASED]
    await audit(pool)


async def test_the_texts_of_a_released_number_fail_although_the_account_adds_it_again(
    send: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    administration: Administration,
) -> None:
    await send(from_phone_number_id=administration.number)

    await administration.release()
    async with administration.act() as unit:
        connection = await queries.get_any(unit, "second")
        await senders.add(unit, administration.services.carriers, connection, NewNumber(NUMBER))
    await hand_over(through(handoff, pool))

    assert await states(pool) == [RELEASED]
    await audit(pool)


async def test_a_connection_with_texts_that_have_not_left_is_not_removed_and_they_leave_once(
    send: Callable[..., Any],
    handoff: Handoff,
    pool: Pool,
    administration: Administration,
) -> None:
    for _ in range(3):
        await send(from_phone_number_id=administration.number)

    with pytest.raises(ConnectionInUse) as refused:
        await administration.remove()
    await administration.move("sandbox")
    await administration.remove()
    await hand_over(through(handoff, pool))

    assert (refused.value.facts["numbers"], refused.value.facts["texts"]) == (1, 3)
    assert await states(pool) == [("sent", None)] * 3
    assert await SANDBOX_MESSAGES.read(pool, "carrier") == ["sandbox"] * 3
    await audit(pool)
