"""Holding back who guesses passwords."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from app.domain.accounts.sign_in.attempts import Attempt, Verdict
from app.domain.kernel.clock import Clock
from app.providers.attempts import RedisAttempts, _name
from app.settings import Settings
from app.telemetry.metrics import ATTEMPTS_UNCHECKED
from tests.shared import wait_for_valkey

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
    wait_for_valkey(attempts)
    yield attempts
    await attempts.close()


@pytest.fixture
def ann() -> str:
    """Give an e-mail address that no test has used."""
    return f"{uuid4()}@example.com"


@pytest.fixture
def office() -> str:
    """Give an IPv6 network of 64 bits that no test has used."""
    return f"2001:{os.urandom(2).hex()}:{os.urandom(2).hex()}:1"


def strangers() -> Iterator[str]:
    """Give addresses of which no two are in one network."""
    start = int.from_bytes(os.urandom(2))
    return (f"2001:db8:{(start + number) % 65536:x}::1" for number in range(1000))


async def fail(attempts: RedisAttempts, email: str, address: str, times: int, browser: str = "") -> list[Verdict]:
    return [await attempts.begin(Attempt(KIND, email, address, browser)) for _ in range(times)]


async def test_five_failures_from_a_network_are_free_and_each_further_one_doubles_the_wait_up_to_15_minutes(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    waits = []
    for _ in range(29):
        verdict = await attempts.begin(Attempt(KIND, ann, f"{office}::1"))
        waits.append(verdict.wait)
        clock.wait(verdict.wait)

    expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    assert waits == [0] * 5 + [answer for wait in expected for answer in (wait, 0)]


async def test_asking_while_held_back_costs_nothing_and_counts_nothing(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    await fail(attempts, ann, office + "::1", 5)

    assert await fail(attempts, ann, office + "::1", 3) == [Verdict(1)] * 3
    clock.wait(0.25)
    assert await fail(attempts, ann, office + "::1", 1) == [Verdict(0.75)]
    clock.wait(0.75)
    assert await fail(attempts, ann, office + "::1", 2) == [Verdict(), Verdict(2)]


async def test_success_forgets_the_failures_with_the_account_from_that_network(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    await fail(attempts, ann, office + "::1", 4)
    last = Attempt(KIND, ann, office + "::1")
    await attempts.begin(last)
    await attempts.succeed(last)

    assert await fail(attempts, ann, office + "::1", 6) == [Verdict()] * 5 + [Verdict(1)]


async def test_one_address_that_tries_many_accounts_is_held_back_after_twenty(
    attempts: RedisAttempts, clock: SetClock, office: str
) -> None:
    waits = [(await attempts.begin(Attempt(KIND, str(uuid4()), f"{office}::{n}"))).wait for n in range(1, 23)]

    assert waits == [0] * 20 + [1, 1]


async def test_success_takes_back_only_its_own_attempt_from_the_address(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    own = Attempt(KIND, ann, f"{office}::1")
    for _ in range(19):
        await attempts.begin(Attempt(KIND, str(uuid4()), own.address))
    for _ in range(3):
        assert await attempts.begin(own) == Verdict()
        await attempts.succeed(own)

    assert await attempts.begin(Attempt(KIND, str(uuid4()), own.address)) == Verdict()
    assert await attempts.begin(own) == Verdict(1)


async def test_guesses_side_by_side_do_not_slip_through_together(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    verdicts = await asyncio.gather(*(attempts.begin(Attempt(KIND, ann, office + "::1")) for _ in range(50)))

    assert sorted(verdict.wait for verdict in verdicts) == [0] * 5 + [1] * 45


async def test_kinds_are_counted_apart(attempts: RedisAttempts, clock: SetClock, ann: str, office: str) -> None:
    await fail(attempts, ann, office + "::1", 6)

    assert await attempts.begin(Attempt("reset", ann, office + "::1")) == Verdict()


async def test_strangers_who_fail_only_slow_down_a_network_that_has_not_failed(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    addresses = strangers()
    first = [(await fail(attempts, ann, next(addresses), 1))[0] for _ in range(50)]

    delays = [0.25 * number for number in range(1, 20)]
    assert first == [Verdict()] * 20 + [Verdict(delay=delay) for delay in delays] + [Verdict(delay=5)] * 11
    assert await fail(attempts, ann, office + "::1", 1) == [Verdict(delay=5)]


async def test_while_an_account_is_attacked_the_networks_that_failed_share_one_attempt_in_thirty_seconds(
    attempts: RedisAttempts, clock: SetClock, ann: str
) -> None:
    addresses = strangers()
    used = [next(addresses) for _ in range(5)]
    for address in used:
        await fail(attempts, ann, address, 5)
    clock.wait(1)

    assert [(await fail(attempts, ann, address, 1))[0].wait for address in used[:3]] == [0, 30, 30]
    clock.wait(30)
    assert [(await fail(attempts, ann, address, 1))[0].wait for address in used[:3]] == [0, 30, 30]


async def test_a_user_who_mistypes_shares_no_attempt_with_attacking_networks(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    addresses = strangers()
    for address in [next(addresses) for _ in range(30)]:
        await fail(attempts, ann, address, 5)
    clock.wait(1)
    [turn] = await fail(attempts, ann, next(addresses), 1)
    assert turn.wait == 0

    assert await fail(attempts, ann, office + "::1", 5) == [Verdict(delay=5)] * 5


async def test_a_password_set_by_a_link_forgets_the_failures_with_it_and_takes_no_attempt_of_others_off(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    own = Attempt(KIND, ann, office + "::1")
    for _ in range(20):
        await attempts.begin(Attempt(KIND, str(uuid4()), own.address))

    await attempts.reset(own)

    assert await attempts.begin(Attempt(KIND, str(uuid4()), own.address)) == Verdict(1)


async def test_an_attempt_that_is_withdrawn_was_none(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    own = Attempt(KIND, ann, office + "::1")
    for _ in range(40):
        assert await attempts.begin(own) == Verdict()
        await attempts.withdraw(own)

    assert await fail(attempts, ann, office + "::1", 6) == [Verdict()] * 5 + [Verdict(1)]


async def test_success_takes_its_attempt_off_the_account_too(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    own = Attempt(KIND, ann, office + "::1")
    for _ in range(40):
        assert await attempts.begin(own) == Verdict()
        await attempts.succeed(own)


async def test_a_browser_that_is_known_has_a_count_of_its_own(
    attempts: RedisAttempts, clock: SetClock, ann: str, office: str
) -> None:
    await fail(attempts, ann, office + "::1", 6)
    known = Attempt(KIND, ann, office + "::1", "a browser")

    assert [await attempts.begin(known) for _ in range(6)] == [Verdict()] * 5 + [Verdict(1)]
    clock.wait(1)
    assert await attempts.begin(known) == Verdict()
    await attempts.succeed(known)
    assert await attempts.begin(known) == Verdict()
    assert await fail(attempts, "bob@example.com", office + "::1", 1, "a browser") == [Verdict()]


@pytest.mark.parametrize(
    ("address", "free"),
    [
        ("2001:{0:x}:{1:x}:aa01::{2:x}", 5),
        ("2001:{0:x}:{1:x}:aa{2:02x}::1", 20),
        ("2001:{0:x}:{1:x}:{2:02x}00::1", 80),
        ("10.{0}.{1}.1", 5),
        ("::ffff:10.{0}.{1}.1", 5),
        ("10.{0}.{1}.{2}", 20),
    ],
)
async def test_wider_networks_are_counted_too_and_have_four_times_as_much_each(
    attempts: RedisAttempts, clock: SetClock, ann: str, address: str, free: int
) -> None:
    first, second, kind = os.urandom(1)[0], os.urandom(1)[0], str(uuid4())

    async def begin(number: int) -> bool:
        # Each with a fresh count of the e-mail address from everywhere, which is not what is looked at here.
        await attempts._redis.delete(_name(kind, "email", ann))
        return (await attempts.begin(Attempt(kind, ann, address.format(first, second, number)))).wait == 0

    assert [await begin(number) for number in range(100)].count(True) == free


async def test_while_redis_is_away_failures_make_a_network_wait_in_each_process_and_no_other(
    clock: SetClock, ann: str
) -> None:
    away = RedisAttempts("redis://127.0.0.1:1", clock)

    verdicts = await fail(away, ann, "10.0.0.1", 6)
    elsewhere = await away.begin(Attempt(KIND, ann, "192.0.2.1"))
    clock.at += timedelta(seconds=1)
    again = await fail(away, ann, "10.0.0.1", 2)
    await away.succeed(Attempt(KIND, ann, "10.0.0.1"))
    forgotten = await fail(away, ann, "10.0.0.1", 5)
    await away.close()

    assert [verdict.wait for verdict in (*verdicts, elsewhere)] == [0, 0, 0, 0, 0, 1, 0]
    assert [verdict.wait for verdict in again] == [0, 2]
    assert [verdict.wait for verdict in forgotten] == [0] * 5


async def test_while_redis_is_away_failures_are_forgotten_after_an_hour(clock: SetClock, ann: str) -> None:
    away = RedisAttempts("redis://127.0.0.1:1", clock)
    await fail(away, ann, "10.0.0.1", 5)
    clock.wait(3599)
    await fail(away, ann, "10.0.0.1", 1)
    clock.wait(3600)

    verdicts = await fail(away, ann, "10.0.0.1", 6)
    await away.close()

    assert [verdict.wait for verdict in verdicts] == [0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("is_away", [False, True])
async def test_success_takes_no_wait_away_that_another_attempt_began(
    attempts: RedisAttempts, clock: SetClock, office: str, is_away: bool
) -> None:
    counting = RedisAttempts("redis://127.0.0.1:1", clock) if is_away else attempts
    for _ in range(19):
        await counting.begin(Attempt(KIND, str(uuid4()), f"{office}::1"))
    slow = Attempt(KIND, str(uuid4()), f"{office}::1")
    begun = [await counting.begin(slow)]
    clock.wait(1)
    begun.append(await counting.begin(Attempt(KIND, str(uuid4()), f"{office}::1")))

    await counting.succeed(slow)

    refused = await counting.begin(Attempt(KIND, str(uuid4()), f"{office}::1"))
    assert [verdict.wait for verdict in (*begun, refused)] == [0, 0, 2]
    if is_away:
        await counting.close()


async def test_uncounted_attempts_are_reported_while_redis_is_away(clock: SetClock, ann: str) -> None:
    away = RedisAttempts("redis://127.0.0.1:1", clock)
    before = _unchecked()

    verdicts = await fail(away, ann, "10.0.0.1", 4)
    await away.succeed(Attempt(KIND, ann, "10.0.0.1"))
    await away.close()

    assert (verdicts, _unchecked() - before) == ([Verdict()] * 4, 5)


def _unchecked() -> float:
    [family] = ATTEMPTS_UNCHECKED.collect()
    return next(sample.value for sample in family.samples if sample.name.endswith("_total"))
