"""Health endpoints, also while a dependency is unreachable."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import cast

import httpx2
import pytest
from starlette.applications import Starlette

from app.bootstrap import open_services
from app.db.engine import Pool
from app.rest import health
from app.services import Services
from app.settings import Settings
from app.telemetry import metrics
from tests.factories.events import OUTBOX
from tests.factories.messages import MESSAGES
from tests.waiting import PATIENCE_SECONDS, never

pytestmark = pytest.mark.anyio

NOWHERE = "redis://127.0.0.1:1"


@pytest.fixture(autouse=True)
def patient_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each request ask, and wait for late answers, but where a test says otherwise."""
    monkeypatch.setattr(health, "CACHE_SECONDS", 0)
    monkeypatch.setattr(health, "PATIENCE", PATIENCE_SECONDS)
    monkeypatch.setattr(health, "REDIS_PATIENCE", PATIENCE_SECONDS)
    monkeypatch.setattr(metrics, "SOURCE_TIMEOUT", PATIENCE_SECONDS)


def client(services: Services) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(app=Starlette(routes=health.routes(services)))
    return httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")


async def test_a_process_that_answers_is_alive(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/healthz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_a_process_that_reaches_its_databases_is_ready(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "database": "ok", "redis": "ok"})


async def test_without_redis_a_process_is_ready_and_reports_redis_unreachable(settings: Settings) -> None:
    async with open_services(settings.model_copy(update={"redis_url": NOWHERE})) as services:
        answer = await client(services).get("/readyz")

    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "database": "ok", "redis": "unreachable"})


async def test_without_its_database_a_process_is_alive_and_not_ready(settings: Settings) -> None:
    async with open_services(settings) as services:
        await services.database.pool.close()
        alive, ready = await client(services).get("/healthz"), await client(services).get("/readyz")

    assert alive.status_code == 200
    assert (ready.status_code, ready.json()) == (
        503,
        {"status": "unavailable", "database": "unreachable", "redis": "ok"},
    )


class Hanging:
    """A pool whose database takes questions and answers none."""

    def __init__(self) -> None:
        self.asked = 0

    async def fetchval(self, *_: object) -> bool:
        self.asked += 1
        await never()
        return True


async def test_a_database_that_hangs_is_told_of_in_time_and_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    pool = Hanging()
    probe = health.DatabaseProbe(cast("Pool", pool))

    answers = [await probe(), *await asyncio.gather(probe(), probe())]

    assert (answers, pool.asked) == ([False, False, False], 1)


async def test_a_flood_of_probes_asks_database_and_redis_once_in_a_second(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def reach(_: Services) -> bool:
        asked.append("redis")
        return True

    async def render(*_: object) -> bytes:
        asked.append("figures")
        return b"figures"

    monkeypatch.setattr(health, "CACHE_SECONDS", 3600)
    monkeypatch.setattr(health, "_reach_redis", reach)
    monkeypatch.setattr(health, "render", render)
    prober = client(services)

    answers = [await prober.get(path) for path in ("/readyz", "/metrics") for _ in range(5)]
    answers += await asyncio.gather(*(prober.get("/metrics") for _ in range(5)))

    assert [answer.status_code for answer in answers] == [200] * 15
    assert asked == ["redis", "figures"]


async def test_a_probe_that_failed_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CACHE_SECONDS", 3600)
    answers = iter((None, b"figures"))

    async def find() -> bytes:
        answer = next(answers)
        if answer is None:
            raise ConnectionError
        return answer

    figures = health.Shared(find)
    with pytest.raises(ConnectionError):
        await figures()

    assert [await figures(), await figures()] == [b"figures"] * 2


async def test_a_process_is_not_ready_after_it_lost_its_database(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_services(settings) as services:
        prober = client(services)
        before = await prober.get("/readyz")
        await services.database.pool.close()

        after = await prober.get("/readyz")

    assert (before.status_code, after.status_code) == (200, 503)


async def test_the_figures_name_every_route_and_status(api: httpx2.AsyncClient) -> None:
    await api.get("/contacts?limit=0")

    answer = await api.get("/metrics")

    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert re.search(r'_count\{method="GET",route="/contacts",status="422"\} \d', answer.text)


async def test_the_figures_say_how_long_the_oldest_work_has_waited(api: httpx2.AsyncClient, services: Services) -> None:
    await api.post("/sms/send", json={"to": "+12025550143", "message": "Hello", "consent_attested": True})
    since = datetime.now(UTC) - timedelta(hours=1)
    await MESSAGES.change(services, created_at=since)
    await OUTBOX.delete(services)

    text = (await api.get("/metrics")).text

    ages = dict(re.findall(r'messaging_oldest_due_seconds\{queue="(\w+)"\} ([\d.]+)', text))
    assert 3600 <= float(ages["messages"]) < 3700
    assert {queue: float(age) for queue, age in ages.items() if queue != "messages"} == {
        "reconcile": 0,
        "receipts": 0,
        "sequences": 0,
        "campaigns": 0,
        "sandbox": 0,
        "events": 0,
        "failed_reactions": 0,
        "deletions": 0,
        "booking_texts": 0,
        "crm": 0,
        "crm_sends": 0,
        "integrations": 0,
        "webhooks": 0,
    }
