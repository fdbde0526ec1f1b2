"""Ending the rows of histories after their time: what goes, what stays, and what is dropped at once."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import pytest

from app.bootstrap import open_history_retention, open_partitions
from app.domain.kernel.clock import Clock
from app.domain.kernel.retention import BATCH
from app.domain.onboarding.service import Opened
from app.jobs.job import Job
from app.jobs.sweeps import end_histories
from app.services import Services
from app.settings import Settings
from tests.factories.billing import LEDGER_ENTRIES
from tests.factories.contacts import id_of_contact
from tests.factories.conversations import CONVERSATIONS
from tests.factories.events import EVENTS, FAILED_REACTIONS, OUTBOX, record, record_many
from tests.factories.messages import CARRIER_IDS, MESSAGES, OUTGOING, RECEIPTS, add_unmatched_receipt
from tests.factories.planting import plant
from tests.factories.webhooks import WEBHOOK_DELIVERIES, add_delivery, add_subscription

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MOMENT = timedelta(milliseconds=1)
EVENT_DAYS, RECEIPT_DAYS, MESSAGE_DAYS = timedelta(days=90), timedelta(days=90), timedelta(days=400)


class Noon(Clock):
    """A clock on which it is noon, `days` later."""

    def __init__(self, days: float = 0) -> None:
        self._days = days

    def now(self) -> datetime:
        return NOON + timedelta(days=self._days)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Return settings with which messages end."""
    return settings.model_copy(update={"message_days": MESSAGE_DAYS.days})


@pytest.fixture
def end(services: Services) -> Callable[..., Any]:
    """Provide a function that ends what is over, as a worker that has just started does."""

    async def end() -> None:
        await finish(job(services))

    return end


def job(services: Services, days: float = 0) -> Job:
    return end_histories("histories", open_history_retention(services), Noon(days))


async def finish(job: Job) -> None:
    while await job.run():
        pass


async def add_events(services: Services, account: Opened, ages: Sequence[timedelta]) -> list[int]:
    """Record events of these ages that have been dispatched; return their ids."""
    ids = [await record(services, account.account_id, "contact_changed", 1) for _ in ages]
    for id, age in zip(ids, ages, strict=True):
        await EVENTS.where(id=id).change(services, created_at=NOON - age)
    await OUTBOX.delete(services)
    return ids


async def add_message(services: Services, account: Opened, age: timedelta, **values: Any) -> int:
    """Add a message of an age with a receipt, a ledger entry and the carrier's id; return its id."""
    planted = await plant(services, account.account_id, f"Wombat {age} {values}")
    id = planted["messages"]
    await MESSAGES.where(id=id).change(services, created_at=NOON - age, **values)
    await OUTGOING.delete(services)
    return id


async def test_events_end_after_90_days(services: Services, account: Opened, end: Callable[..., Any]) -> None:
    ids = await add_events(services, account, [EVENT_DAYS + MOMENT, EVENT_DAYS, timedelta(0)])

    await end()

    assert await EVENTS.read(services, "id") == ids[1:]


async def test_an_event_stays_while_a_reaction_to_it_waits_or_a_delivery_of_it_is_stored(
    services: Services, account: Opened, end: Callable[..., Any]
) -> None:
    waiting, failed, delivered, over = await add_events(services, account, [2 * EVENT_DAYS] * 4)
    id = account.account_id
    subscription = await add_subscription(services, id)
    await OUTBOX.insert(services, account_id=id, event_id=waiting)
    await FAILED_REACTIONS.insert(
        services, account_id=id, event_id=failed, reaction="webhooks", error="", failed_at=NOON
    )
    await add_delivery(services, id, subscription, event_id=delivered, status="failed")

    await end()

    assert await EVENTS.read(services, "id") == [waiting, failed, delivered]
    assert over not in await EVENTS.read(services, "id")


async def test_an_event_ends_a_day_after_its_last_delivery_at_the_latest(services: Services, account: Opened) -> None:
    [delivered] = await add_events(services, account, [2 * EVENT_DAYS])
    subscription = await add_subscription(services, account.account_id)
    await add_delivery(services, account.account_id, subscription, event_id=delivered, status="failed")
    running = open_history_retention(services)

    for days in (0, 0.5, 1.1):
        await finish(end_histories("histories", running, Noon(days)))
        left = await EVENTS.count(services)
        await WEBHOOK_DELIVERIES.delete(services)

    assert (days, left) == (1.1, 0)


async def test_messages_end_with_their_receipts_and_carrier_ids_and_the_ledger_stays(
    services: Services, account: Opened, end: Callable[..., Any]
) -> None:
    ages = {"over": MESSAGE_DAYS + MOMENT, "kept": MESSAGE_DAYS, "new": timedelta(0)}
    ids = {name: await add_message(services, account, age, status="delivered") for name, age in ages.items()}
    await RECEIPTS.change(services, received_at=NOON)
    entries = await LEDGER_ENTRIES.texts(services)
    await add_unmatched_receipt(services, "late", message_id=ids["over"])
    for id in ids.values():
        part = {"carrier": "main", "direction": "outbound", "message_id": id, "part": 2, "parts": 2}
        await CARRIER_IDS.insert(services, provider_message_id=f"part-{id}", **part)

    await end()

    kept = [ids["kept"], ids["new"]]
    assert await MESSAGES.read(services, "id") == kept
    assert {*await RECEIPTS.read(services, "message_id")} == {*kept}
    assert {*await CARRIER_IDS.read(services, "message_id")} == {*kept}
    assert await LEDGER_ENTRIES.texts(services) == entries


def test_messages_are_kept_for_a_hundred_years_by_default() -> None:
    assert Settings.model_fields["message_days"].default == 36_500


async def test_a_message_that_is_not_settled_stays(
    services: Services, account: Opened, end: Callable[..., Any]
) -> None:
    pending = await add_message(services, account, 2 * MESSAGE_DAYS, status="pending")
    queued = await add_message(services, account, 2 * MESSAGE_DAYS, status="sent")
    await add_message(services, account, 2 * MESSAGE_DAYS, status="sent")
    await OUTGOING.insert(
        services, message_id=queued, account_id=account.account_id, lane=2, number="", carrier="sandbox", due_at=NOON
    )

    await end()

    assert await MESSAGES.read(services, "id") == [pending, queued]


async def test_receipts_end_before_their_messages(services: Services, account: Opened, end: Callable[..., Any]) -> None:
    for age in (RECEIPT_DAYS + MOMENT, RECEIPT_DAYS):
        id = await add_message(services, account, age, status="delivered")
        await RECEIPTS.where(message_id=id).change(services, received_at=NOON - age)

    await end()

    assert await MESSAGES.count(services) == 2
    assert await RECEIPTS.read(services, "message_id") == [id]


async def test_a_conversation_whose_messages_have_ended_opens_without_them(
    services: Services, api: httpx2.AsyncClient, end: Callable[..., Any]
) -> None:
    body = {"to": "+12025550143", "message": "Hello", "consent_attested": True}
    await api.post("/sms/send", json=body)
    await OUTGOING.delete(services)
    await MESSAGES.change(services, created_at=NOON - 2 * MESSAGE_DAYS, status="delivered")

    await end()
    query = "{ conversations { nodes { id last_message { id } messages { nodes { id } } } } }"
    shown = (await api.post("/graphql", json={"query": query})).json()["data"]["conversations"]["nodes"]
    again = await api.post("/sms/send", json=body)

    id = await CONVERSATIONS.only(services, "id")
    assert shown == [{"id": id, "last_message": None, "messages": {"nodes": []}}]
    assert (again.status_code, await MESSAGES.only(services, "conversation_id")) == (200, id)
    assert await id_of_contact(services, "+12025550143") == await MESSAGES.only(services, "contact_id")


async def test_more_than_a_batch_ends_in_several_transactions(services: Services, account: Opened) -> None:
    await record_many(services, account.account_id, BATCH + 2)
    await OUTBOX.delete(services)
    await EVENTS.change(services, created_at=NOON - 2 * EVENT_DAYS)
    running = job(services)

    more = await running.run()
    left = await EVENTS.count(services)
    again = job(services)  # of another worker, after the first has died
    await finish(again)

    assert (more, left, await EVENTS.count(services)) == (True, 2, 0)


async def test_two_workers_at_once_end_each_row_once(services: Services, account: Opened) -> None:
    await record_many(services, account.account_id, 10)
    await OUTBOX.delete(services)
    await EVENTS.change(services, created_at=NOON - 2 * EVENT_DAYS)
    jobs = [job(services), job(services)]

    await asyncio.gather(*map(finish, jobs))

    assert await EVENTS.count(services) == 0


async def test_the_upkeep_is_not_due_while_there_are_partitions_for_the_next_rows(services: Services) -> None:
    upkeep = open_partitions(services)

    assert (upkeep.topic, upkeep.every, await upkeep.due(), await upkeep.run()) == ("partitions", 60, False, False)
