"""Holding back who guesses passwords."""

import asyncio
import os
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from app.domain.kernel.clock import Clock
from app.providers.attempts import RedisAttempts
from app.settings import Settings
from app.telemetry.metrics import ATTEMPTS_UNCHECKED

KIND = "sign_in"


class SetClock(Clock):
    """A clock that is moved by hand."""

    at = datetime(2026, 11, 21, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def attempts(settings: Settings, clock: SetClock) -> AsyncGenerator[RedisAttempts]:
    attempts = RedisAttempts(settings.redis_url or "", clock)
    yield attempts
    await attempts.close()


@pytest.fixture
def ann() -> str:
    """Give an e-mail address that no test has used."""
    return f"{uuid4()}@example.com"


@pytest.fixture
def office() -> str:
    """Give an IPv6 network that no test has used."""
    return ":".join(os.urandom(2).hex() for _ in range(4))


async def test_five_failures_are_free_and_each_further_one_doubles_the_wait_up_to_15_minutes(
    attempts: RedisAttempts, clock: SetClock, ann: str
) -> None:
    answers = []
    for _ in range(29):
        answers.append(wait := await attempts.begin(KIND, ann, str(uuid4())))
        clock.wait(wait)

    waits = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    assert answers == [0] * 5 + [answer for wait in waits for answer in (wait, 0)]


async def test_asking_while_held_back_costs_nothing_and_counts_nothing(
    attempts: RedisAttempts, clock: SetClock, ann: str
) -> None:
    for _ in range(5):
        await attempts.begin(KIND, ann, str(uuid4()))

    assert [await attempts.begin(KIND, ann, str(uuid4())) for _ in range(3)] == [1, 1, 1]
    clock.wait(0.25)
    assert await attempts.begin(KIND, ann, str(uuid4())) == 0.75
    clock.wait(0.75)
    assert await attempts.begin(KIND, ann, str(uuid4())) == 0
    assert await attempts.begin(KIND, ann, str(uuid4())) == 2


async def test_success_forgets_the_failures_of_the_account(attempts: RedisAttempts, clock: SetClock, ann: str) -> None:
    for _ in range(5):
        await attempts.begin(KIND, ann, str(uuid4()))
    await attempts.succeed(KIND, ann, str(uuid4()))

    assert [await attempts.begin(KIND, ann, str(uuid4())) for _ in range(6)] == [0, 0, 0, 0, 0, 1]


async def test_one_address_that_tries_many_accounts_is_held_back_after_twenty(
    attempts: RedisAttempts, clock: SetClock, office: str
) -> None:
    waits = [await attempts.begin(KIND, str(uuid4()), f"{office}::{number}") for number in range(1, 23)]

    assert waits == [0] * 20 + [1, 1]


async def test_success_takes_back_only_its_own_attempt_from_the_address(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    address = f"{office}::1"
    for _ in range(19):
        await attempts.begin(KIND, str(uuid4()), address)
    for _ in range(3):
        assert await attempts.begin(KIND, ann, address) == 0
        await attempts.succeed(KIND, ann, address)

    assert await attempts.begin(KIND, str(uuid4()), address) == 0
    assert await attempts.begin(KIND, ann, address) == 1


async def test_guesses_side_by_side_do_not_slip_through_together(
    attempts: RedisAttempts, clock: SetClock, ann: str
) -> None:
    waits = await asyncio.gather(*(attempts.begin(KIND, ann, str(uuid4())) for _ in range(50)))

    assert sorted(waits) == [0] * 5 + [1] * 45


async def test_kinds_are_counted_apart(attempts: RedisAttempts, clock: SetClock, ann: str) -> None:
    for _ in range(5):
        await attempts.begin(KIND, ann, str(uuid4()))

    assert await attempts.begin("reset", ann, str(uuid4())) == 0


@pytest.mark.parametrize(
    ("one", "same"),
    [("203.0.113.{}", "::ffff:203.0.113.{}"), ("203.0.113.{}", "203.0.113.{}")],
)
async def test_an_address_is_one_however_it_is_written(
    attempts: RedisAttempts, clock: SetClock, one: str, same: str
) -> None:
    number = os.urandom(1)[0]
    kind = str(uuid4())
    for _ in range(20):
        await attempts.begin(kind, str(uuid4()), one.format(number))

    assert await attempts.begin(kind, str(uuid4()), same.format(number)) == 1
    assert await attempts.begin(kind, str(uuid4()), "203.0.114.1") == 0


async def test_while_redis_is_away_nobody_is_held_back_and_it_is_counted(clock: SetClock, ann: str) -> None:
    away = RedisAttempts("redis://127.0.0.1:1", clock)
    before = _unchecked()

    waits = [await away.begin(KIND, ann, "10.0.0.1") for _ in range(7)]
    await away.succeed(KIND, ann, "10.0.0.1")
    await away.close()

    assert (waits, _unchecked() - before) == ([0] * 7, 8)


def _unchecked() -> float:
    [family] = ATTEMPTS_UNCHECKED.collect()
    return next(sample.value for sample in family.samples if sample.name.endswith("_total"))
