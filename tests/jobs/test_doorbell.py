"""The doorbell: quick, coalesced, and never in the way."""

import pytest
from structlog.testing import capture_logs

from app.jobs.doorbell import Doorbell
from app.telemetry.metrics import REGISTRY
from tests.jobs.conftest import Valkey
from tests.waiting import until

pytestmark = pytest.mark.anyio


def waiting(valkey: Valkey) -> int:
    """Count the rings that wait for a worker."""
    return valkey.client.llen("messaging:bells")


async def test_a_thousand_rings_of_two_processes_leave_one_for_the_worker(valkey: Valkey) -> None:
    doorbells = [Doorbell(valkey.url), Doorbell(valkey.url)]

    for doorbell in doorbells:
        for _ in range(500):
            doorbell.ring("work")
    for doorbell in doorbells:
        await doorbell.close()

    assert waiting(valkey) == 1


async def test_different_bells_do_not_hide_one_another(valkey: Valkey) -> None:
    doorbell = Doorbell(valkey.url)

    doorbell.ring("messages")
    doorbell.ring("events")
    await doorbell.close()

    assert waiting(valkey) == 2


async def test_a_ring_nobody_answers_is_repeated_after_a_while(valkey: Valkey) -> None:
    first, second = Doorbell(valkey.url), Doorbell(valkey.url)
    first.ring("work")
    await first.close()
    await until(lambda: valkey.client.exists("messaging:bell:work") == 0)

    second.ring("work")
    await second.close()

    assert waiting(valkey) == 2


async def test_without_redis_a_ring_is_counted_and_warned_of_once(valkey: Valkey) -> None:
    valkey.kill()
    doorbell = Doorbell(valkey.url)
    counted = {"bell": "lost", "result": "failed"}
    before = REGISTRY.get_sample_value("messaging_rings_total", counted) or 0

    with capture_logs() as logs:
        doorbell.ring("lost")
        doorbell.ring("lost_too")
        await doorbell.close()

    assert [entry["log_level"] for entry in logs] == ["warning"]
    assert REGISTRY.get_sample_value("messaging_rings_total", counted) == before + 1


async def test_a_redis_that_hangs_holds_up_neither_ring_nor_close(valkey: Valkey) -> None:
    doorbell = Doorbell(valkey.url)
    valkey.hang()

    with capture_logs() as logs:
        doorbell.ring("work")
        await doorbell.close()

    assert [entry["log_level"] for entry in logs] == ["warning"]


async def test_a_closed_doorbell_is_silent(valkey: Valkey) -> None:
    doorbell = Doorbell(valkey.url)
    await doorbell.close()

    doorbell.ring("work")
    await doorbell.close()

    assert waiting(valkey) == 0
