"""Forgetting what was kept for a time."""

from datetime import UTC, datetime, timedelta

import pytest

from app.bootstrap import open_history_retention, retention_rules
from app.domain.kernel.clock import Clock
from app.domain.kernel.idempotency import KEPT, OWN_KEPT, OwnKey
from app.domain.messages.erasure import REPEATED_FOR
from app.domain.messages.receipts.journal import UNMATCHED_FOR
from app.domain.onboarding.service import Opened
from app.jobs.job import Job
from app.jobs.sweeps import end_histories, purge
from app.providers.carriers.sandbox.retention import SANDBOX_FOR
from app.services import Services
from tests.factories.accounts import PASSWORD_LINKS, SESSIONS, WAITING_MAILS, add_link, add_session, id_of_user
from tests.factories.events import IDEMPOTENCY_KEYS, keep_answer
from tests.factories.jobs import ACCOUNT_JOBS, JOB_KEYS, JOB_PARTS
from tests.factories.messages import (
    CARRIER_IDS,
    ERASED_TEXTS,
    SANDBOX_CALLBACKS,
    SANDBOX_MESSAGES,
    UNMATCHED_RECEIPTS,
    add_handed_over,
    add_unmatched_receipt,
)
from tests.factories.webhooks import WEBHOOK_DELIVERIES, add_delivery, add_subscription

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
PAYLOADS, METADATA = timedelta(days=30), timedelta(days=90)


class Noon(Clock):
    """A clock on which it is always noon."""

    def now(self) -> datetime:
        return NOON


async def test_answers_are_forgotten_after_24_hours(services: Services, account: Opened) -> None:
    for key, at in {"old": NOON - KEPT - MOMENT, "kept": NOON - KEPT, "new": NOON}.items():
        await keep_answer(services, account.account_id, key, at)

    more = await _job(services).run()

    left = {*await IDEMPOTENCY_KEYS.read(services, "key")}
    assert (timedelta(hours=24), more, left) == (KEPT, False, {"kept", "new"})


async def test_erased_texts_are_forgotten_when_no_carrier_brings_them_again(services: Services) -> None:
    for id, at in {"old": NOON - REPEATED_FOR - MOMENT, "kept": NOON - REPEATED_FOR, "new": NOON}.items():
        await ERASED_TEXTS.insert(services, carrier="sandbox", provider_message_id=id, erased_at=at)
        for direction in ("inbound", "outbound"):
            await CARRIER_IDS.insert(
                services, carrier="sandbox", provider_message_id=id, direction=direction, message_id=1
            )

    await _job(services).run()

    assert {*await ERASED_TEXTS.read(services, "provider_message_id")} == {"kept", "new"}
    assert {*await CARRIER_IDS.where(direction="inbound").read(services, "provider_message_id")} == {"kept", "new"}
    assert await CARRIER_IDS.where(direction="outbound").count(services) == 3


async def test_sessions_and_mailed_links_are_forgotten_when_they_are_over(services: Services, account: Opened) -> None:
    user = await id_of_user(services)
    for name, until in {b"over": NOON - MOMENT, b"good": NOON}.items():
        await add_session(services, account.account_id, user, name, until)
        await add_link(services, account.account_id, user, name, until)

    await _job(services).run()

    assert [await rows.read(services, "hash") for rows in (SESSIONS, PASSWORD_LINKS)] == [[b"good"], [b"good"]]


async def test_expired_waiting_mails_are_deleted(services: Services, account: Opened) -> None:
    pool = services.database.pool
    user = await id_of_user(pool)
    for name, until in {"over": NOON - MOMENT, "good": NOON}.items():
        await WAITING_MAILS.insert(pool, account_id=account.account_id, user_id=user, kind=name, expires_at=until)

    await _job(services).run()

    assert await WAITING_MAILS.read(pool, "kind") == ["good"]


async def test_answers_to_keys_of_the_services_own_are_forgotten_after_30_days(
    services: Services, account: Opened
) -> None:
    for number, at in enumerate([NOON - OWN_KEPT - MOMENT, NOON - OWN_KEPT, NOON - KEPT - MOMENT]):
        await keep_answer(services, account.account_id, OwnKey("step", number), at)

    await _job(services).run()

    left = {*await IDEMPOTENCY_KEYS.read(services, "key")}
    assert (timedelta(days=30), left) == (OWN_KEPT, {OwnKey("step", 1), OwnKey("step", 2)})


async def test_receipts_are_forgotten_when_no_message_was_found_for_them_in_time(services: Services) -> None:
    old = NOON - UNMATCHED_FOR - MOMENT
    for name, message_id, at in [("lost", None, old), ("matched", 7, old), ("waiting", None, NOON - UNMATCHED_FOR)]:
        await add_unmatched_receipt(services, name, message_id=message_id, received_at=at)

    await _job(services).run()

    assert await UNMATCHED_RECEIPTS.read(services, "provider_message_id") == ["matched", "waiting"]


async def test_messages_accepted_by_the_sandbox_are_deleted_after_30_days(services: Services) -> None:
    for number, at in enumerate([NOON - SANDBOX_FOR - MOMENT, NOON - SANDBOX_FOR, None]):
        await add_handed_over(services, number, at)

    await _job(services).run()

    left = [await rows.read(services, "reference") for rows in (SANDBOX_MESSAGES, SANDBOX_CALLBACKS)]
    assert left == [[1, 2], [2]]


async def test_messages_refused_by_the_sandbox_are_deleted_after_30_days(services: Services) -> None:
    for number, at in enumerate([NOON - SANDBOX_FOR - MOMENT, NOON - SANDBOX_FOR]):
        await add_handed_over(services, number, at)
    await SANDBOX_MESSAGES.change(services, accepted_at=None, outcome="invalid_number")

    await _job(services).run()

    assert await SANDBOX_MESSAGES.read(services, "reference") == [1]


async def test_deliveries_lose_their_payloads_first_and_are_kept_while_they_are_pending(
    services: Services, account: Opened
) -> None:
    id = account.account_id
    subscription = await add_subscription(services, id)
    ages = {"new": PAYLOADS, "bare": PAYLOADS + MOMENT, "kept": METADATA, "gone": METADATA + MOMENT}
    for status in ("delivered", "pending"):
        for name, age in ages.items():
            await add_delivery(services, id, subscription, event=name, status=status, created_at=NOON - age)

    await end_histories("histories", open_history_retention(services), Noon()).run()

    left = await WEBHOOK_DELIVERIES.read(services, "event", "status", "body")
    assert [(event, status, body is None) for event, status, body in left] == [
        ("new", "delivered", False),
        ("bare", "delivered", True),
        ("kept", "delivered", True),
        *((name, "pending", False) for name in ages),
    ]


async def test_the_purge_is_due_at_each_interval(services: Services) -> None:
    job = _job(services)

    assert (job.topic, job.every, await job.due()) == ("retention", 600, True)


async def test_keys_of_a_job_are_forgotten_once_it_has_ended_and_its_file_a_week_later(
    services: Services, account: Opened
) -> None:
    week = timedelta(days=7)
    for name, at in {"over": NOON - week - MOMENT, "kept": NOON - week, "unfinished": None}.items():
        status, own = "done" if at else "running", {"account_id": account.account_id, "created_by": name}
        job = await ACCOUNT_JOBS.insert(services, kind="import_contacts", status=status, finished_at=at, **own)
        await JOB_KEYS.insert(services, job_id=job, key=1, row=1)
        await JOB_PARTS.insert(services, job_id=job, number=0, content=name.encode())

    await _job(services).run()

    assert await ACCOUNT_JOBS.count(services) == 3
    assert await JOB_KEYS.read(services, "job_id") == [job]
    assert {*await JOB_PARTS.read(services, "content")} == {b"kept", b"unfinished"}


@pytest.mark.parametrize("status", ["canceled", "failed"])
async def test_the_contacts_of_an_export_without_a_file_are_forgotten_once_it_has_ended(
    services: Services, account: Opened, status: str
) -> None:
    for kind in ("import_contacts", "export_contacts"):
        ended = {"kind": kind, "status": status, "finished_at": NOON - MOMENT}
        job = await ACCOUNT_JOBS.insert(services, account_id=account.account_id, created_by="key:1", **ended)
        await JOB_PARTS.insert(services, job_id=job, number=0, content=kind.encode())

    await _job(services).run()

    assert await JOB_PARTS.read(services, "content") == [b"import_contacts"]


def _job(services: Services) -> Job:
    return purge("retention", retention_rules(services.settings), services.database, Noon())
