"""The notifier returns at once, coalesces notifications, and never fails."""

import asyncio

import pytest
from structlog.testing import capture_logs

from app.jobs import notifier as notifier_module
from app.jobs.job import Job, Runner
from app.jobs.notifier import WAKE_URGENT, Notifier
from app.telemetry.metrics import REGISTRY
from tests.jobs.conftest import Valkey
from tests.waiting import until, within

pytestmark = pytest.mark.anyio


def waiting(valkey: Valkey) -> int:
    """Count the notifications that wait for a worker."""
    return valkey.client.llen("messaging:topics")


async def test_a_thousand_notifications_of_two_processes_leave_one_for_the_worker(
    valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifier_module, "UNANSWERED_MS", 60_000)
    notifiers = [Notifier(valkey.url), Notifier(valkey.url)]

    for notifier in notifiers:
        for _ in range(500):
            notifier.notify("work")
    for notifier in notifiers:
        await notifier.close()

    assert waiting(valkey) == 1


async def test_different_topics_are_notified_apart(valkey: Valkey) -> None:
    notifier = Notifier(valkey.url)

    notifier.notify("receipts")
    notifier.notify("events")
    await notifier.close()

    assert waiting(valkey) == 2


async def test_an_urgent_topic_is_published_without_a_notification_that_waits_for_a_worker(valkey: Valkey) -> None:
    notifier, channel = Notifier(valkey.url), valkey.client.pubsub(ignore_subscribe_messages=True)
    channel.subscribe(WAKE_URGENT)

    def heard() -> bool:
        notifier.notify("messages")
        return (channel.get_message() or {}).get("data") == b"messages"

    await until(heard)
    await notifier.close()
    channel.close()

    assert waiting(valkey) == 0


async def test_an_urgent_topic_that_no_worker_hears_is_counted_as_unheard(valkey: Valkey) -> None:
    counted = {"topic": "messages", "result": "unheard"}
    before = REGISTRY.get_sample_value("messaging_notifications_total", counted) or 0
    notifier = Notifier(valkey.url)

    notifier.notify("messages")
    await notifier.close()

    assert REGISTRY.get_sample_value("messaging_notifications_total", counted) == before + 1


async def test_a_notification_that_no_worker_answers_is_repeated_after_a_while(valkey: Valkey) -> None:
    first, second = Notifier(valkey.url), Notifier(valkey.url)
    first.notify("work")
    await first.close()
    await until(lambda: valkey.client.exists("messaging:topic:work") == 0)

    second.notify("work")
    await second.close()

    assert waiting(valkey) == 2


async def test_without_redis_a_notification_is_counted_and_logged_once(valkey: Valkey) -> None:
    valkey.kill()
    notifier = Notifier(valkey.url)
    counted = {"topic": "lost", "result": "failed"}
    before = REGISTRY.get_sample_value("messaging_notifications_total", counted) or 0

    with capture_logs() as logs:
        notifier.notify("lost")
        notifier.notify("lost_too")
        await notifier.close()

    assert [(entry["log_level"], entry["event"]) for entry in logs] == [("warning", "notification_failed")]
    assert REGISTRY.get_sample_value("messaging_notifications_total", counted) == before + 1


async def test_a_redis_that_hangs_delays_neither_notify_nor_close(
    valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifier_module, "TIMEOUT_SECONDS", 1)
    notifier = Notifier(valkey.url)
    valkey.hang()

    with capture_logs() as logs:
        notifier.notify("work")
        await notifier.close()

    assert [(entry["log_level"], entry["event"]) for entry in logs] == [("warning", "notification_failed")]


async def test_a_closed_notifier_notifies_no_topic(valkey: Valkey) -> None:
    notifier = Notifier(valkey.url)
    await notifier.close()

    notifier.notify("work")
    await notifier.close()

    assert waiting(valkey) == 0


async def test_a_worker_starts_its_own_jobs_and_notifies_others_only_while_these_are_busy(valkey: Valkey) -> None:
    begun: list[str] = []
    permitted = asyncio.Event()

    async def run() -> bool:
        begun.append("work")
        return await within("the test to end the batches", permitted.wait()) and False

    async def due() -> bool:
        return False

    runner, notifier = Runner(Job("work", run, due)), Notifier(valkey.url)
    notifier.serve([runner])
    notifier.notify("work")
    await until(lambda: len(begun) == 1)
    notifier.notify("work")
    await until(lambda: len(begun) == 2)
    before = waiting(valkey)
    notifier.notify("work")
    await until(lambda: waiting(valkey) == 1)
    permitted.set()
    await notifier.close()
    await until(lambda: len(begun) == 3)
    await runner.stop(1)

    assert (before, waiting(valkey)) == (0, 1)


async def test_a_worker_starts_its_own_jobs_while_redis_is_away(valkey: Valkey) -> None:
    begun: list[str] = []

    async def run() -> bool:
        begun.append("work")
        return False

    async def due() -> bool:
        return False

    notifier = Notifier(valkey.url)
    notifier.serve([Runner(Job("work", run, due))])
    valkey.kill()

    notifier.notify("work")

    await until(lambda: begun == ["work"])
    await notifier.close()


async def test_a_worker_that_stops_leaves_new_work_to_others(valkey: Valkey) -> None:
    async def run() -> bool:
        raise AssertionError("a batch began")

    async def due() -> bool:
        return False

    runner, notifier = Runner(Job("work", run, due)), Notifier(valkey.url)
    notifier.serve([runner])
    await runner.stop(0)

    notifier.notify("work")
    await notifier.close()

    assert waiting(valkey) == 1
