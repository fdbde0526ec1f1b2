"""Alerts of connections are raised and withdrawn by what happened in the last minutes."""

from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from app.domain.carriers import alerts
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import backlog
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.jobs.sweeps import watch_connections
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.carriers import ALERTS, CONNECTIONS, MINUTES, add_connection, add_minute, change_connection
from tests.factories.messages import OUTGOING

pytestmark = pytest.mark.anyio


@pytest.fixture
async def connection(services: Services) -> int:
    """Give the id of a connection."""
    return await add_connection(services, "second")


async def update(services: Services, waiting_minutes: float | None = None) -> list[tuple[str, str, bool]]:
    """Return the alerts that change now, while texts of the connection have waited for some minutes."""
    now = datetime.now(UTC)
    waiting = {} if waiting_minutes is None else {"second": now - timedelta(minutes=waiting_minutes)}
    changes = await alerts.update(services.database.pool, now, waiting)
    return [(each.key, each.kind, each.is_raised) for each in changes]


async def test_a_connection_whose_hand_offs_fail_is_failing_until_they_succeed(
    services: Services, connection: int
) -> None:
    await add_minute(services, connection, "accepted", count=5)
    await add_minute(services, connection, "unanswered", count=4)
    before = await update(services)
    await add_minute(services, connection, "rejected", "carrier_error")
    raised, again = await update(services), await update(services)
    await add_minute(services, connection, "accepted", minutes_ago=3, count=5)

    assert (before, raised, again) == ([], [("second", "failing", True)], [])
    assert await update(services) == [("second", "failing", False)]
    assert await ALERTS.count(services) == 0


async def test_refusals_because_of_recipients_are_no_reason_for_an_alert(services: Services, connection: int) -> None:
    await add_minute(services, connection, "rejected", "invalid_number", count=1000)

    assert await update(services) == []


async def test_few_failures_are_no_reason_for_an_alert(services: Services, connection: int) -> None:
    await add_minute(services, connection, "unanswered", count=9)

    assert await update(services) == []


async def test_refused_credentials_are_an_alert_until_a_text_is_accepted(services: Services, connection: int) -> None:
    await add_minute(services, connection, "accepted", minutes_ago=40)
    await add_minute(services, connection, "rejected", "account_problem", minutes_ago=30)
    raised = await update(services)
    await add_minute(services, connection, "accepted", minutes_ago=1)

    assert raised == [("second", "credentials_refused", True)]
    assert await update(services) == [("second", "credentials_refused", False)]


async def test_callbacks_that_are_refused_are_an_alert(services: Services, connection: int) -> None:
    await add_minute(services, connection, "callback", count=5)
    await add_minute(services, connection, "callback_refused", count=4)
    before = await update(services)
    await add_minute(services, connection, "callback_refused", minutes_ago=3)

    assert (before, await update(services)) == ([], [("second", "callbacks_refused", True)])


@pytest.mark.parametrize(
    ("waiting", "accepted", "raised"),
    [(11, None, True), (9, None, False), (None, None, False), (30, 5, False), (30, 15, True)],
)
async def test_a_connection_is_silent_when_texts_wait_and_none_is_accepted_for_10_minutes(
    services: Services, connection: int, waiting: float | None, accepted: float | None, raised: bool
) -> None:
    if accepted:
        await add_minute(services, connection, "accepted", minutes_ago=accepted)

    assert await update(services, waiting) == [("second", "silent", True)] * raised


async def test_texts_that_are_tried_again_in_vain_make_a_connection_silent(services: Services, connection: int) -> None:
    await add_minute(services, connection, "accepted", minutes_ago=40)
    await add_minute(services, connection, "unanswered", minutes_ago=50)
    await add_minute(services, connection, "unanswered", minutes_ago=5)
    before = await update(services, waiting_minutes=0)
    await add_minute(services, connection, "unanswered", minutes_ago=12)

    assert (before, await update(services, waiting_minutes=0)) == ([], [("second", "silent", True)])


async def test_a_paused_connection_is_not_silent(services: Services, connection: int) -> None:
    await change_connection(services, "second", status="paused")

    assert await update(services, waiting_minutes=30) == []


async def test_alerts_end_with_their_connection(services: Services, connection: int) -> None:
    await update(services, waiting_minutes=30)
    await CONNECTIONS.where(key="second").delete(services)

    assert await ALERTS.count(services) == 0
    assert await alerts.count(services.database.pool) == dict.fromkeys(alerts.AlertKind, 0)


async def test_texts_wait_that_are_due_or_had_an_attempt_but_not_deferred_ones(
    services: Services, account: Opened
) -> None:
    actor, now = Actor(account.account_id, frozenset(), "key:1"), datetime.now(UTC)
    later, pool = now + timedelta(minutes=5), services.database.pool
    await services.acceptor.accept(actor, Send("+12025550143", "Hello", consent_attested=True))
    await OUTGOING.change(services, due_at=later)
    deferred = await backlog.find_waiting(pool, now)
    await OUTGOING.change(services, attempts=1)
    tried = await backlog.find_waiting(pool, now)
    await OUTGOING.change(services, due_at=now - timedelta(minutes=3))
    due = await backlog.find_waiting(pool, now)
    await OUTGOING.change(services, claimed_until=later)
    claimed = await backlog.find_waiting(pool, now)
    await OUTGOING.change(services, unanswered_since=now - timedelta(minutes=7))

    assert (deferred, tried, claimed) == ({}, {"sandbox": now}, {})
    assert due == {"sandbox": now - timedelta(minutes=3)}
    assert await backlog.find_waiting(pool, now) == {"sandbox": now - timedelta(minutes=7)}


async def test_an_alert_is_logged_once(services: Services, account: Opened) -> None:
    actor = Actor(account.account_id, frozenset(), "key:1")
    await services.acceptor.accept(actor, Send("+15005550005", "Hello", consent_attested=True))
    await hand_over(services.handoff)
    await services.health.flush()
    job = watch_connections("carrier_alerts", services.database, services.clock)
    with capture_logs() as logs:
        for _ in range(2):
            await job.run()
        await MINUTES.delete(services)
        for _ in range(2):
            await job.run()

    assert [(each["event"], each["connection"], each["alert"]) for each in logs] == [
        ("carrier_alert_raised", "sandbox", "credentials_refused")
    ]
    assert await ALERTS.count(services) == 0
