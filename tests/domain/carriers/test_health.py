"""What happens on connections is counted by the minute, and summarized for their owners."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.bootstrap import open_services
from app.domain.carriers import health_reports
from app.domain.carriers.carrier import Accepted, Ambiguous, FailureCode, Receipt, ReceiptStatus, Rejected
from app.domain.carriers.health import Health
from app.domain.carriers.health_reports import ConnectionFailure, ConnectionHealth, ResultCount
from app.domain.carriers.models import ConnectionResult
from app.domain.carriers.retention import RULES
from app.domain.kernel import retention
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.domain.messages.handing import hand_over
from tests.factories.carriers import CONNECTIONS, MINUTES, add_connection, add_minute
from tests.factories.clocks import At
from tests.factories.messages import MESSAGES
from tests.shared import Shared

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 11, 23, 12, 0, 30, tzinfo=UTC)
COUNTED = ("result", "code", "count", "parts", "carrier_error")
TAKEN = Accepted("SM1")


def noting(services: Services) -> Health:
    """Return counts of their own, at noon."""
    return Health(services.database.pool, At(NOON))


async def read(services: Services, id: int, now: datetime | None = None) -> ConnectionHealth:
    async with unit_of(services, Actor(0, frozenset())) as unit:
        unit.clock = At(now) if now else unit.clock
        return (await health_reports.read(unit, [id]))[id]


async def test_answers_are_counted_by_minute_and_code_in_one_statement(services: Services) -> None:
    health = noting(services)
    for parts in (1, 2):
        health.note_answer("sandbox", TAKEN, parts)
    health.note_answer("sandbox", Ambiguous("HTTP 502 for +12025550143"), 1)
    for code in ("21211", "21614"):
        health.note_answer("sandbox", Rejected(FailureCode.invalid_number, code), 1)

    await health.flush()

    minutes = await MINUTES.read(services, "minute", "last_at")
    assert {tuple(row) for row in minutes} == {(NOON.replace(second=0), NOON)}
    assert [tuple(row) for row in await MINUTES.read(services, *COUNTED)] == [
        ("accepted", "", 2, 3, ""),
        ("rejected", "invalid_number", 2, 0, "21614"),
        ("unanswered", "", 1, 0, "HTTP 502 for …"),
    ]


async def test_counts_of_several_processes_add_up(services: Services) -> None:
    first, second = noting(services), noting(services)
    for health in (first, second, second):
        health.note_answer("sandbox", TAKEN, 1)
        await health.flush()

    assert await MINUTES.only(services, "count") == 3


async def test_final_reports_and_refused_binds_are_counted(services: Services) -> None:
    health = noting(services)
    health.note_receipt("sandbox", Receipt("SM1", ReceiptStatus.sent, "sent"))
    health.note_receipt("sandbox", Receipt("SM1", ReceiptStatus.delivered, "delivered"))
    health.note_receipt("sandbox", Receipt("SM2", ReceiptStatus.failed, "failed", FailureCode.landline, "30006"))
    health.note_refused_credentials("sandbox", "the SMSC refused the bind: wrong\x00 password")

    await health.close()

    assert [tuple(row) for row in await MINUTES.read(services, *COUNTED)] == [
        ("delivered", "", 1, 0, ""),
        ("rejected", "account_problem", 1, 0, "the SMSC refused the bind: wrong password"),
        ("undelivered", "landline", 1, 0, "30006"),
    ]


async def test_a_callback_is_counted_with_the_difference_of_the_clocks(services: Services) -> None:
    health = noting(services)
    health.note_callback("sandbox", NOON + timedelta(seconds=400), is_signed=False)
    health.note_callback("sandbox", NOON - timedelta(seconds=2), is_signed=True)
    health.note_callback("sandbox", None, is_signed=True)

    await health.flush()

    counted = await MINUTES.read(services, "result", "count", "skew_seconds")
    assert [tuple(row) for row in counted] == [("callback", 2, -2.0), ("callback_refused", 1, 400.0)]


async def test_counts_of_a_removed_connection_are_dropped(services: Services) -> None:
    health = noting(services)
    await add_connection(services, "second")
    health.note_answer("second", TAKEN, 1)
    await health.flush()
    await CONNECTIONS.where(key="second").delete(services)
    health.note_answer("second", TAKEN, 1)

    await health.flush()

    assert await MINUTES.count(services) == 0


async def test_while_the_database_is_away_noting_and_flushing_do_not_fail(settings: Settings) -> None:
    async with open_services(settings) as services:
        await services.database.pool.close()
        services.health.note_answer("sandbox", TAKEN, 1)

        await services.health.flush()

        assert services.health._counts == {}


async def test_the_services_that_tests_share_write_no_counts_of_an_earlier_test(
    services: Services, shared: Shared
) -> None:
    services.health.note_answer("sandbox", TAKEN, 1)

    assert services.health._later._timer
    assert services.health._later._timer.when() - asyncio.get_running_loop().time() > 3600
    await shared.clear(services)
    await services.health.flush()

    assert await MINUTES.count(services) == 0


async def test_hand_offs_and_reports_on_them_are_counted(services: Services, account: Opened) -> None:
    actor = Actor(account.account_id, frozenset(), "key:1")
    for to in ("+12025550143", "+15005550005"):
        await services.acceptor.accept(actor, Send(to, "Hello", consent_attested=True))
    await hand_over(services.handoff)
    for id in (await MESSAGES.where(status="sent").only(services, "provider_message_id"), "sbx_unknown"):
        await services.receipts.receive("sandbox", Receipt(id, ReceiptStatus.delivered, "delivered"))

    await services.health.flush()

    assert [tuple(row) for row in await MINUTES.read(services, *COUNTED)] == [
        ("accepted", "", 1, 1, ""),
        ("delivered", "", 1, 0, ""),
        ("rejected", "account_problem", 1, 0, "account_problem"),
    ]


async def test_the_health_of_a_connection_says_its_last_results_and_its_speed(services: Services) -> None:
    id = await add_connection(services, "second")
    now = datetime.now(UTC)
    this_minute = now.replace(second=0, microsecond=0)
    await add_minute(
        services, id, "accepted", minutes_ago=1, count=3, parts=120, minute=this_minute - timedelta(minutes=1)
    )
    await add_minute(services, id, "accepted", minutes_ago=30, count=3, parts=600)
    await add_minute(services, id, "rejected", "invalid_number", minutes_ago=20, count=2, carrier_error="21211")
    await add_minute(services, id, "callback", minutes_ago=15, skew_seconds=3.5)
    await add_minute(services, id, "rejected", "account_problem", minutes_ago=90, count=50)

    health = await read(services, id, now)

    [failed_at] = await MINUTES.where(code="invalid_number").read(services, "last_at")
    assert health.last_success_at == max(await MINUTES.where(result="accepted").read(services, "last_at"))
    assert health.last_failure == ConnectionFailure(failed_at, ConnectionResult.rejected, "invalid_number", "21211")
    assert health.last_hour == [
        ResultCount(ConnectionResult.accepted, "", 6, 0.75),
        ResultCount(ConnectionResult.rejected, "invalid_number", 2, 0.25),
        ResultCount(ConnectionResult.callback, "", 1, 1.0),
    ]
    assert (health.parts_per_second, health.peak_parts_per_second, health.skew_seconds) == (2.0, 10.0, 3.5)
    assert health.alerts == []


async def test_a_connection_without_traffic_has_no_results(services: Services) -> None:
    assert await read(services, await add_connection(services, "second")) == ConnectionHealth(last_hour=[])


async def test_old_counts_end_except_the_last_of_each_kind(services: Services) -> None:
    id = await add_connection(services, "second")
    for result, days_ago in (("accepted", 9), ("accepted", 8), ("rejected", 8), ("rejected", 1)):
        await add_minute(services, id, result, minutes_ago=days_ago * 24 * 60, count=days_ago)

    await retention.apply(RULES, services.database.pool, datetime.now(UTC))

    assert {tuple(row) for row in await MINUTES.read(services, "result", "count")} == {
        ("accepted", 8),
        ("rejected", 1),
    }
