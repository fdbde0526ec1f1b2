"""The notifier: quick, coalesced, and never in the way."""

import pytest
from structlog.testing import capture_logs

from app.jobs.notifier import Notifier
from app.telemetry.metrics import REGISTRY
from tests.jobs.conftest import Valkey
from tests.waiting import until

pytestmark = pytest.mark.anyio


def waiting(valkey: Valkey) -> int:
    """Count the rings that wait for a worker."""
    return valkey.client.llen("messaging:topics")


async def test_a_thousand_rings_of_two_processes_leave_one_for_the_worker(valkey: Valkey) -> None:
    doorbells = [Notifier(valkey.url), Notifier(valkey.url)]

    for notifier in doorbells:
        for _ in range(500):
            notifier.notify("work")
    for notifier in doorbells:
        await notifier.close()

    assert waiting(valkey) == 1


async def test_different_bells_do_not_hide_one_another(valkey: Valkey) -> None:
    notifier = Notifier(valkey.url)

    notifier.notify("messages")
    notifier.notify("events")
    await notifier.close()

    assert waiting(valkey) == 2


async def test_a_ring_nobody_answers_is_repeated_after_a_while(valkey: Valkey) -> None:
    first, second = Notifier(valkey.url), Notifier(valkey.url)
    first.notify("work")
    await first.close()
    await until(lambda: valkey.client.exists("messaging:topic:work") == 0)

    second.notify("work")
    await second.close()

    assert waiting(valkey) == 2


async def test_without_redis_a_ring_is_counted_and_warned_of_once(valkey: Valkey) -> None:
    valkey.kill()
    notifier = Notifier(valkey.url)
    counted = {"topic": "lost", "result": "failed"}
    before = REGISTRY.get_sample_value("messaging_notifications_total", counted) or 0

    with capture_logs() as logs:
        notifier.notify("lost")
        notifier.notify("lost_too")
        await notifier.close()

    assert [entry["log_level"] for entry in logs] == ["warning"]
    assert REGISTRY.get_sample_value("messaging_notifications_total", counted) == before + 1


async def test_a_redis_that_hangs_holds_up_neither_ring_nor_close(valkey: Valkey) -> None:
    notifier = Notifier(valkey.url)
    valkey.hang()

    with capture_logs() as logs:
        notifier.notify("work")
        await notifier.close()

    assert [entry["log_level"] for entry in logs] == ["warning"]


async def test_a_closed_doorbell_is_silent(valkey: Valkey) -> None:
    notifier = Notifier(valkey.url)
    await notifier.close()

    notifier.notify("work")
    await notifier.close()

    assert waiting(valkey) == 0
