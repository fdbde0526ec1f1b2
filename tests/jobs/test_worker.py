"""The worker: what is due gets done, whatever dies."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis import Redis

from app.jobs.broker import NotificationConsumer, disconnect, make_broker
from app.jobs.job import Job, Runner
from app.jobs.notifier import WAKE, WAKE_URGENT, Notifier
from app.worker import Build, Worker
from tests.jobs.conftest import Valkey
from tests.jobs.samples import Ledger, building
from tests.waiting import PATIENCE_SECONDS, until, within

pytestmark = pytest.mark.anyio

PROJECT = Path(__file__).parents[2]
NEVER = 3600.0
SOON = 0.1


@asynccontextmanager
async def working(valkey: Valkey, build: Build) -> AsyncGenerator[Notifier]:
    """Run a worker in this process, with a notifier to wake it."""
    worker, notifier = Worker(valkey.url, build), Notifier(valkey.url)
    await worker.start()
    yield notifier
    await notifier.close()
    await worker.stop()


def start_process(valkey: Valkey, ledger: Ledger, batch_seconds: float) -> subprocess.Popen[bytes]:
    """Start a worker as a process of its own."""
    command = [sys.executable, "-m", "tests.jobs.samples", valkey.url, ledger.path, str(batch_seconds)]
    return subprocess.Popen(command, cwd=PROJECT)


def start_stuck_process(valkey: Valkey) -> subprocess.Popen[bytes]:
    """Start a worker that never gets its connections; it writes how far it got."""
    command = [sys.executable, "-m", "tests.jobs.samples", valkey.url]
    return subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE)


async def test_a_ring_does_the_work_without_the_clock(valkey: Valkey, ledger: Ledger) -> None:
    async with working(valkey, building(ledger.job(every=NEVER))) as notifier:
        ledger.add(25)

        notifier.notify("work")

        await until(lambda: ledger.count("done = 1 and claims = 1") == 25)


async def test_a_ring_is_answered_before_its_run_begins_so_that_the_next_one_counts(valkey: Valkey) -> None:
    unanswered: list[int] = []

    async def run() -> bool:
        unanswered.append(valkey.client.exists("messaging:topic:work"))
        return False

    async def due() -> bool:
        return False

    async with working(valkey, building(Job("work", run, due, NEVER))) as notifier:
        notifier.notify("work")
        await until(lambda: len(unanswered) == 1)
        notifier.notify("work")
        await until(lambda: len(unanswered) == 2)

    assert unanswered == [0, 0]


async def test_a_bell_that_no_job_watches_disturbs_no_other(valkey: Valkey, ledger: Ledger) -> None:
    async with working(valkey, building(ledger.job(every=NEVER))) as notifier:
        ledger.add(1)

        notifier.notify("unknown")
        notifier.notify("work")

        await until(lambda: ledger.count("done = 1") == 1)


async def test_a_slow_job_keeps_no_other_bell_waiting(valkey: Valkey, ledger: Ledger) -> None:
    stuck = asyncio.Event()

    async def wait() -> bool:
        return await within("the test to free the job", stuck.wait()) and False

    async def due() -> bool:
        return False

    slow = [Job(f"slow_{number}", wait, due, NEVER) for number in range(10)]
    async with working(valkey, building(*slow, ledger.job(every=NEVER))) as notifier:
        for job in slow:
            notifier.notify(job.topic)
        ledger.add(1)

        notifier.notify("work")

        await until(lambda: ledger.count("done = 1") == 1)
        stuck.set()


async def test_a_publication_starts_the_job_of_an_urgent_topic_in_every_worker(valkey: Valkey) -> None:
    begun: list[str] = []

    async def due() -> bool:
        return False

    def job(topic: str, worker: str) -> Job:
        async def run() -> bool:
            begun.append(f"{topic} of {worker}")
            return False

        return Job(topic, run, due, NEVER)

    def publish() -> bool:
        valkey.client.publish(WAKE, "events")
        valkey.client.publish(WAKE_URGENT, "messages")
        return len(set(begun)) == 2

    one, other = ([job("messages", name), job("events", name)] for name in ("one", "other"))
    async with working(valkey, building(*one)), working(valkey, building(*other)):
        await until(publish)

    assert set(begun) == {"messages of one", "messages of other"}


async def test_work_goes_on_when_redis_forgets_everything(valkey: Valkey, ledger: Ledger) -> None:
    async with working(valkey, building(ledger.job(every=SOON, batch_seconds=0.05))) as notifier:
        ledger.add(60)
        notifier.notify("work")
        await until(lambda: ledger.count("done > 0") >= 10)

        valkey.client.flushall()

        await until(lambda: ledger.count("done > 0") == 60)


async def test_a_ring_is_heard_after_redis_forgot_everything(valkey: Valkey, ledger: Ledger) -> None:
    async with working(valkey, building(ledger.job(every=NEVER))) as notifier:
        notifier.notify("work")
        valkey.client.flushall()
        ledger.add(1)

        notifier.notify("work")

        await until(lambda: ledger.count("done = 1") == 1)


async def test_work_is_done_while_redis_is_away(valkey: Valkey, ledger: Ledger) -> None:
    async with working(valkey, building(ledger.job(every=SOON))) as notifier:
        valkey.kill()
        ledger.add(25)

        notifier.notify("work")

        await until(lambda: ledger.count("done = 1") == 25)


async def test_rings_are_heard_again_when_redis_is_back(valkey: Valkey, ledger: Ledger) -> None:
    async with working(valkey, building(ledger.job(every=NEVER))) as notifier:
        notifier.notify("work")
        valkey.kill()
        valkey.start()
        ledger.add(1)

        def is_done_once_rung() -> bool:
            notifier.notify("work")
            return ledger.count("done = 1") > 0

        await until(is_done_once_rung, every=0.1)

    assert ledger.count("done = 1 and claims = 1") == 1


async def test_the_work_of_a_killed_worker_is_finished_by_another(valkey: Valkey, ledger: Ledger) -> None:
    ledger.add(20)
    process = start_process(valkey, ledger, batch_seconds=600)
    await until(lambda: ledger.count("claims = 1") >= 10)

    process.kill()
    process.wait()
    ledger.lapse()

    async with working(valkey, building(ledger.job(every=SOON))):
        await until(lambda: ledger.count("done = 1") == 20)
    assert ledger.count("claims = 2") >= 10


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_worker_told_to_stop_finishes_the_batch_in_hand_only(
    valkey: Valkey, ledger: Ledger, number: signal.Signals
) -> None:
    ledger.add(1000)
    process = start_process(valkey, ledger, batch_seconds=0.5)
    await until(lambda: ledger.count("claims > 0") > 0)

    process.send_signal(number)

    assert await asyncio.to_thread(process.wait, PATIENCE_SECONDS) == 0
    claimed = ledger.count("claims > 0")
    assert claimed < 1000
    assert ledger.count("done > 0") == claimed


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_worker_told_to_stop_while_it_starts_starts_no_further(valkey: Valkey, number: signal.Signals) -> None:
    process = start_stuck_process(valkey)
    assert process.stdout
    assert await asyncio.to_thread(process.stdout.readline) == b"connecting\n"

    process.send_signal(number)

    assert await asyncio.to_thread(process.wait, PATIENCE_SECONDS) == 0
    assert process.stdout.read() == b"gave up\n"
    process.stdout.close()


async def test_a_worker_stops_while_redis_is_away(valkey: Valkey, ledger: Ledger) -> None:
    ledger.add(1)
    process = start_process(valkey, ledger, batch_seconds=0)
    await until(lambda: ledger.count("done = 1") == 1)
    valkey.kill()

    process.terminate()

    assert await asyncio.to_thread(process.wait, PATIENCE_SECONDS) == 0


async def test_connections_outlive_the_batches_that_use_them(valkey: Valkey) -> None:
    story: list[str] = []

    async def run() -> bool:
        story.append("batch begins")
        await asyncio.sleep(0.1)
        story.append("batch ends")
        return False

    async def due() -> bool:
        return not story

    @asynccontextmanager
    async def build(_: Notifier) -> AsyncGenerator[Sequence[Job]]:
        story.clear()
        yield [Job("work", run, due, SOON)]
        story.append("disconnected")

    async with working(valkey, build):
        await until(lambda: story == ["batch begins"])

    assert story == ["batch begins", "batch ends", "disconnected"]


async def test_no_thread_polls_for_delayed_rings(valkey: Valkey, ledger: Ledger) -> None:
    broker = make_broker(valkey.url, [Runner(ledger.job(every=NEVER))])
    consumer = NotificationConsumer(broker)

    consumer.start()

    assert set(consumer.consumers) == {"topics"}
    disconnect(consumer, broker)


async def test_a_ring_fetched_by_a_killed_worker_leaves_nothing_behind(valkey: Valkey, ledger: Ledger) -> None:
    client: Redis = valkey.client
    client.zadd("messaging:__heartbeats__", {"dead": 0})
    client.sadd("messaging:__acks__.dead.topics", "ring")

    def search() -> bool:
        client.publish(WAKE, "other")  # some searches look for dead workers
        return client.zscore("messaging:__heartbeats__", "dead") is None

    async with working(valkey, building(ledger.job(every=NEVER))):
        await until(search)

    assert client.exists("messaging:__acks__.dead.topics") == 0
