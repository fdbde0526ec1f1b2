"""Forgetting what was kept for a time."""

from datetime import UTC, datetime, timedelta

from app.bootstrap import Services
from app.domain.erasure.service import REPEATED_FOR
from app.domain.kernel.clock import Clock
from app.domain.kernel.idempotency import KEPT, OWN_KEPT, OwnKey
from app.domain.messages.receipts import UNMATCHED_FOR
from app.domain.onboarding.service import Opened
from app.jobs.job import Job
from app.jobs.retention import SANDBOX_FOR, purge

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
PAYLOADS, METADATA = timedelta(days=30), timedelta(days=90)


class Noon(Clock):
    """A clock on which it is always noon."""

    def now(self) -> datetime:
        return NOON


async def test_answers_are_forgotten_after_24_hours(services: Services, account: Opened) -> None:
    for key, at in {"old": NOON - KEPT - MOMENT, "kept": NOON - KEPT, "new": NOON}.items():
        await services.database.pool.execute(
            "INSERT INTO idempotency_keys VALUES ($1, $2, '', '{}', $3)", account.account_id, key, at
        )

    more = await _job(services).run()

    left = await services.database.pool.fetch("SELECT key FROM idempotency_keys ORDER BY created_at")
    assert (timedelta(hours=24), more, [row["key"] for row in left]) == (KEPT, False, ["kept", "new"])


async def test_erased_texts_are_forgotten_when_no_carrier_brings_them_again(services: Services) -> None:
    for id, at in {"old": NOON - REPEATED_FOR - MOMENT, "kept": NOON - REPEATED_FOR, "new": NOON}.items():
        await services.database.pool.execute("INSERT INTO erased_texts VALUES ('sandbox', $1, $2)", id, at)

    await _job(services).run()

    left = await services.database.pool.fetch("SELECT provider_message_id FROM erased_texts ORDER BY erased_at")
    assert [row["provider_message_id"] for row in left] == ["kept", "new"]


async def test_sessions_and_mailed_links_are_forgotten_when_they_are_over(services: Services, account: Opened) -> None:
    pool = services.database.pool
    user = await pool.fetchval("SELECT id FROM users")
    for name, until in {b"over": NOON - MOMENT, b"good": NOON}.items():
        await pool.execute(
            "INSERT INTO sessions (account_id, user_id, hash, address, user_agent, last_used_at, expires_at)"
            " VALUES ($1, $2, $3, '', '', $4, $4)",
            account.account_id,
            user,
            name,
            until,
        )
        await pool.execute(
            "INSERT INTO password_links (account_id, user_id, purpose, hash, expires_at)"
            " VALUES ($1, $2, 'reset', $3, $4)",
            account.account_id,
            user,
            name,
            until,
        )

    await _job(services).run()

    for table in ("sessions", "password_links"):
        assert [row["hash"] for row in await pool.fetch(f"SELECT hash FROM {table}")] == [b"good"]


async def test_letters_that_nobody_sent_in_time_are_forgotten(services: Services, account: Opened) -> None:
    pool = services.database.pool
    user = await pool.fetchval("SELECT id FROM users")
    for name, until in {"over": NOON - MOMENT, "good": NOON}.items():
        await pool.execute(
            "INSERT INTO waiting_letters (account_id, user_id, kind, expires_at) VALUES ($1, $2, $3, $4)",
            account.account_id,
            user,
            name,
            until,
        )

    await _job(services).run()

    assert [row["kind"] for row in await pool.fetch("SELECT kind FROM waiting_letters")] == ["good"]


async def test_answers_to_keys_of_the_services_own_are_forgotten_after_30_days(
    services: Services, account: Opened
) -> None:
    for number, at in enumerate([NOON - OWN_KEPT - MOMENT, NOON - OWN_KEPT, NOON - KEPT - MOMENT]):
        await services.database.pool.execute(
            "INSERT INTO idempotency_keys VALUES ($1, $2, '', '{}', $3)", account.account_id, OwnKey("step", number), at
        )

    await _job(services).run()

    left = await services.database.pool.fetch("SELECT key FROM idempotency_keys ORDER BY created_at")
    assert (timedelta(days=30), [row["key"] for row in left]) == (OWN_KEPT, [OwnKey("step", 1), OwnKey("step", 2)])


async def test_receipts_are_forgotten_when_no_message_was_found_for_them_in_time(services: Services) -> None:
    old = NOON - UNMATCHED_FOR - MOMENT
    for name, message_id, at in [("lost", None, old), ("matched", 7, old), ("waiting", None, NOON - UNMATCHED_FOR)]:
        await services.database.pool.execute(
            "INSERT INTO receipts (carrier, provider_message_id, message_id, status, raw_status, carrier_error, part,"
            " received_at) VALUES ('sandbox', $1, $2, 'sent', 'sent', '', 1, $3)",
            name,
            message_id,
            at,
        )

    await _job(services).run()

    left = await services.database.pool.fetch("SELECT provider_message_id FROM receipts ORDER BY id")
    assert [row["provider_message_id"] for row in left] == ["matched", "waiting"]


async def test_what_the_sandbox_took_is_forgotten_after_30_days(services: Services) -> None:
    pool = services.database.pool
    for number, at in enumerate([NOON - SANDBOX_FOR - MOMENT, NOON - SANDBOX_FOR, None]):
        await pool.execute(
            "INSERT INTO sandbox_messages (reference, provider_message_id, from_number, to_number, body, outcome,"
            " accepted_at) VALUES ($1, '', '', '', '', 'accepted', $2)",
            number,
            at,
        )
        await pool.execute(
            "INSERT INTO sandbox_callbacks (reference, kind, payload, due_at, done_at)"
            " VALUES ($1, 'status', '{}', $2, $3)",
            number,
            NOON,
            at,
        )

    await _job(services).run()

    for table in ("sandbox_messages", "sandbox_callbacks"):
        left = await pool.fetch(f"SELECT reference FROM {table} ORDER BY id")
        assert [row["reference"] for row in left] == [1, 2]


async def test_deliveries_lose_their_payloads_first_and_are_kept_while_they_are_pending(
    services: Services, account: Opened
) -> None:
    pool = services.database.pool
    subscription = await pool.fetchval(
        "INSERT INTO webhook_subscriptions (account_id, kind, target_url, events, secret)"
        " VALUES ($1, 'webhook', 'https://example.com', '{}', '') RETURNING id",
        account.account_id,
    )
    ages = {"new": PAYLOADS, "bare": PAYLOADS + MOMENT, "kept": METADATA, "gone": METADATA + MOMENT}
    for status in ("delivered", "pending"):
        for name, age in ages.items():
            await pool.execute(
                "INSERT INTO webhook_deliveries"
                " (account_id, subscription_id, event, webhook_id, body, status, created_at)"
                " VALUES ($1, $2, $3, '', '{}', $4, $5)",
                account.account_id,
                subscription,
                name,
                status,
                NOON - age,
            )

    await _job(services).run()

    left = await pool.fetch("SELECT event, status, body IS NULL AS is_bare FROM webhook_deliveries ORDER BY id")
    assert [tuple(row) for row in left] == [
        ("new", "delivered", False),
        ("bare", "delivered", True),
        ("kept", "delivered", True),
        *((name, "pending", False) for name in ages),
    ]


async def test_the_purge_is_due_at_each_interval(services: Services) -> None:
    job = _job(services)

    assert (job.bell, job.every, await job.due()) == ("retention", 600, True)


def _job(services: Services) -> Job:
    return purge(services.database, Noon(), PAYLOADS, METADATA)
