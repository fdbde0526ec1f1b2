"""How fast texts leave: the paces of sending numbers and of carriers, and the holds that carriers ask for."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import (
    Accepted,
    Answer,
    Capabilities,
    FailureCode,
    Limited,
    OutboundMessage,
    Rejected,
)
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import Send
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import Purpose
from app.domain.numbers import service as numbers
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.carriers import opened
from tests.factories.clocks import Stopped
from tests.factories.messages import OUTGOING, TOKEN_BUCKETS
from tests.waiting import until

THREE_PARTS = "x" * 400


class Noting(SandboxCarrier):
    """A carrier that notes the texts it is given; the answers that a test prepares come first."""

    capabilities: ClassVar[Capabilities] = Capabilities()

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool, b"secret", 0, 10)
        self.given: list[str] = []
        self.answers: list[Answer] = []

    async def send(self, message: OutboundMessage) -> Answer:
        self.given.append(message.body[:9])
        return self.answers.pop() if self.answers else Accepted(f"note_{message.reference}")


class Paced(Noting):
    """A carrier whose connection takes two SMS parts a second."""

    capabilities = Capabilities(parts_per_second=2)


@pytest.fixture
def clock() -> Stopped:
    """Give a clock that the test moves."""
    return Stopped()


@pytest.fixture
def carrier(pool: Pool) -> Noting:
    """Give a carrier that notes what it is given."""
    return Noting(pool)


@pytest.fixture
async def theirs(services: Services, account: Opened, new_account: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function that sends a text of a second account."""
    other: Opened = await new_account()

    async def theirs(body: str) -> None:
        actor = Actor(other.account_id, frozenset(), "key:2")
        await services.acceptor.accept(actor, Send("+12025550144", body, consent_attested=True))

    return theirs


@pytest.fixture
def paced(handoff: Handoff, carrier: Noting, clock: Stopped) -> Handoff:
    """Give what hands off at the time of the test's clock."""
    return replace(handoff, connections=opened(handoff, sandbox=carrier), clock=clock)


@pytest.fixture
async def other(account: Opened, new_account: Callable[..., Any]) -> Opened:
    """Give a second account."""
    return await new_account()


@pytest.fixture
def pace(act: Callable[[], Any], account: Opened) -> Callable[..., Any]:
    """Give a function that sets the pace of the account's number."""

    async def pace(parts_per_second: float) -> None:
        async with act() as unit:
            await numbers.set_pace(unit, account.phone_number_id, parts_per_second)

    return pace


async def departures(handoff: Handoff, carrier: Noting, clock: Stopped, seconds: list[float]) -> list[int]:
    """Return how many texts have left at each of these times, in seconds from the first."""
    counts, past = list[int](), 0.0
    for at in seconds:
        clock.move(at - past)
        past = at
        await hand_over(handoff)
        counts.append(len(carrier.given))
    return counts


async def test_a_number_without_a_pace_has_no_bucket_and_its_texts_leave_at_once(
    send: Callable[..., Any], paced: Handoff, carrier: Noting, pool: Pool
) -> None:
    for number in range(20):
        await send(body=f"text {number}")

    await hand_over(paced)

    assert len(carrier.given) == 20
    assert await TOKEN_BUCKETS.count(pool) == 0


async def test_one_part_a_second_leaves_from_a_number_of_that_pace(
    send: Callable[..., Any], pace: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await pace(1)
    for number in range(4):
        await send(body=f"text {number}")

    left = await departures(paced, carrier, clock, [0, 0.5, 1, 1.5, 2, 10, 10.5, 11])

    assert left == [1, 1, 2, 2, 3, 4, 4, 4]
    assert carrier.given == ["text 0", "text 1", "text 2", "text 3"]


async def test_a_number_that_rested_lets_the_parts_of_one_second_leave_at_once(
    send: Callable[..., Any], pace: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await pace(5)
    for number in range(12):
        await send(body=f"text {number}")

    left = await departures(paced, carrier, clock, [0, 0.2, 0.4, 1.4, 30])

    assert left == [5, 6, 7, 12, 12]


async def test_a_long_text_delays_the_next_by_the_time_of_its_parts(
    send: Callable[..., Any], pace: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await pace(1)
    await send(body=THREE_PARTS)
    await send(body="after")

    left = await departures(paced, carrier, clock, [0, 2.8, 3])

    assert left == [1, 1, 2]


async def test_a_reply_leaves_before_the_promotions_that_wait_for_the_same_number(
    send: Callable[..., Any], pace: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await pace(1)
    for number in range(3):
        await send(body=f"promo {number}", purpose=Purpose.promotional)
    await departures(paced, carrier, clock, [0])
    await send(body="reply", purpose=Purpose.conversational)

    await departures(paced, carrier, clock, [1, 2, 3])

    assert carrier.given == ["promo 0", "reply", "promo 1", "promo 2"]


async def test_a_paced_number_does_not_delay_the_number_of_another_account(
    send: Callable[..., Any], pace: Callable[..., Any], theirs: Callable[..., Any], paced: Handoff, carrier: Noting
) -> None:
    await pace(1)
    for number in range(3):
        await send(body=f"mine {number}")
    for number in range(3):
        await theirs(f"theirs {number}")

    await hand_over(paced)

    assert sorted(carrier.given) == ["mine 0", "theirs 0", "theirs 1", "theirs 2"]


async def test_two_workers_share_the_pace_of_a_number(
    send: Callable[..., Any], pace: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await pace(2)
    for number in range(6):
        await send(body=f"text {number}")
    second = replace(paced)

    await hand_over(paced)
    await hand_over(second)
    clock.move(0.5)
    await hand_over(second)
    await hand_over(paced)

    assert len(carrier.given) == 3


async def test_the_connection_to_a_carrier_has_a_pace_for_all_its_numbers_together(
    send: Callable[..., Any], theirs: Callable[..., Any], paced: Handoff, pool: Pool, clock: Stopped
) -> None:
    carrier = Paced(pool)
    for number in range(3):
        await send(body=f"mine {number}")
        await theirs(f"theirs {number}")

    left = await departures(
        replace(paced, connections=opened(paced, sandbox=carrier)), carrier, clock, [0, 0.5, 1, 2.5]
    )

    assert left == [2, 3, 4, 6]
    assert sorted(carrier.given[:2]) == ["mine 0", "theirs 0"]


async def test_a_carrier_that_limits_a_number_holds_the_texts_of_that_number_alone(
    send: Callable[..., Any], theirs: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await _refuse(send, paced, carrier, Limited.number)
    await send(body="mine")
    await theirs("theirs")

    clock.move(29)
    await hand_over(paced)
    assert carrier.given == ["theirs"]

    clock.move(1)
    await hand_over(paced)
    assert sorted(carrier.given) == ["mine", "refused", "theirs"]


async def test_a_carrier_that_limits_its_connection_holds_the_texts_of_all_numbers(
    send: Callable[..., Any], theirs: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped
) -> None:
    await _refuse(send, paced, carrier, Limited.connection)
    await send(body="mine")
    await theirs("theirs")

    clock.move(29)
    await hand_over(paced)
    assert carrier.given == []

    clock.move(1)
    await hand_over(paced)
    assert sorted(carrier.given) == ["mine", "refused", "theirs"]


@pytest.mark.parametrize("limited", Limited)
async def test_a_limit_of_a_carrier_without_a_time_holds_other_texts_for_seconds_however_often_one_was_refused(
    send: Callable[..., Any], paced: Handoff, carrier: Noting, clock: Stopped, pool: Pool, limited: Limited
) -> None:
    await send(body="refused")
    await OUTGOING.change(pool, attempts=8)
    carrier.answers = [Rejected(FailureCode.rate_limited, "429", True, limited)]
    await hand_over(paced)
    await send(body="mine")
    carrier.given.clear()

    clock.move(4)
    await hand_over(paced)
    held = list(carrier.given)
    clock.move(1)
    await hand_over(paced)
    after_a_moment = list(carrier.given)
    clock.move(600)
    await hand_over(paced)

    assert (held, after_a_moment) == ([], ["mine"])
    assert carrier.given == ["mine", "refused"]


async def test_a_worker_starts_again_by_itself_when_a_paced_number_is_free(
    send: Callable[..., Any], pace: Callable[..., Any], handoff: Handoff, carrier: Noting, pool: Pool
) -> None:
    await pace(10)
    for number in range(13):
        await send(body=f"text {number}")
    running = replace(handoff, connections=opened(handoff, sandbox=carrier))
    announced = list[bool]()
    running.sends.watch(lambda: announced.append(True))

    await hand_over(running)
    await until(lambda: _is_true(announced))
    while await OUTGOING.count(pool):
        await hand_over(running)

    assert len(carrier.given) == 13


async def _is_true(announced: list[bool]) -> bool:
    return bool(announced)


async def _refuse(send: Callable[..., Any], paced: Handoff, carrier: Noting, limited: Limited) -> None:
    """Have a text refused by a carrier that allows the next one in 30 seconds."""
    carrier.answers = [Rejected(FailureCode.rate_limited, "429", True, limited, timedelta(seconds=30))]
    await send(body="refused")
    await hand_over(paced)
    carrier.given.clear()
