"""Which deliveries a list holds, and what is refused of webhooks before anything changes."""

from typing import Any

import pytest

from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Window
from app.domain.webhooks import queries, replays
from app.domain.webhooks.delivery_filter import Answer, DeliveryFilter
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.service import MAX_DESCRIPTION
from tests.domain.webhooks.endpoints import delivery_ids, endpoint
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import status
from tests.factories.events import record
from tests.factories.tables import ago
from tests.factories.webhooks import WEBHOOK_ATTEMPTS, WEBHOOK_DELIVERIES, add_delivery
from tests.waiting import until


async def test_deliveries_are_listed_of_one_subscription_or_of_one_status(harness: Harness) -> None:
    first, second = await harness.subscribe("/1"), await harness.subscribe("/2")
    await harness.tell("won")
    await harness.dispatcher.run()
    of_first, of_second = await delivery_ids(harness)
    await WEBHOOK_DELIVERIES.where(id=of_second).change(harness.pool, status="failed")

    async with harness.act() as unit:
        pages = [
            await queries.find_deliveries(unit, wanted, Window())
            for wanted in (
                DeliveryFilter(subscription_id=first.id),
                DeliveryFilter(status=DeliveryStatus.failed),
                DeliveryFilter(second.id, DeliveryStatus.pending),
            )
        ]
        assert [[each.id for each in page.nodes] for page in pages] == [[of_first], [of_second], []]
        assert [(await page.total()).count for page in pages] == [1, 1, 0]


async def find(harness: Harness, **wanted: Any) -> list[int]:
    """Return the ids of the deliveries that a filter finds."""
    async with harness.act() as unit:
        return [each.id for each in (await queries.find_deliveries(unit, DeliveryFilter(**wanted), Window())).nodes]


async def test_deliveries_are_listed_of_one_event_or_of_one_contact(harness: Harness) -> None:
    subscription = (await harness.subscribe()).id
    account = harness.account.account_id
    about = [await record(harness.pool, account, "new_contact", contact_id) for contact_id in (1, 2)]
    plain = await add_delivery(harness.pool, account, subscription, event="new_contact", event_id=about[0])
    dotted = await add_delivery(harness.pool, account, subscription, event="contact.created", event_id=about[1])

    assert await find(harness, event="new_contact") == [plain]
    assert await find(harness, event="contact.created") == [dotted]
    assert await find(harness, contact_id=2) == [dotted]
    assert await find(harness, contact_id=2, event="new_contact") == []


async def test_deliveries_are_listed_from_an_instant_and_before_another(harness: Harness) -> None:
    subscription, account = (await harness.subscribe()).id, harness.account.account_id
    times = [ago(days=3), ago(days=2), ago(days=1)]
    old, middle, new = [await add_delivery(harness.pool, account, subscription, created_at=at) for at in times]

    assert await find(harness, since=times[1]) == [new, middle]
    assert await find(harness, until=times[1]) == [old]
    assert await find(harness, since=times[1], until=times[2]) == [middle]


ANSWERS = [(200, "delivered"), (301, "failed"), (404, "failed"), (503, "pending"), (None, "failed")]


async def test_deliveries_are_listed_by_the_answer_to_their_last_attempt(harness: Harness) -> None:
    subscription, account = (await harness.subscribe()).id, harness.account.account_id
    await add_delivery(harness.pool, account, subscription)  # not attempted yet
    ok, moved, missing, busy, silent = [
        await add_delivery(harness.pool, account, subscription, answer_status=answer, status=state, attempts=1)
        for answer, state in ANSWERS
    ]

    found = [await find(harness, answer=each) for each in Answer]

    assert found == [[ok], [moved], [missing], [busy], [silent]]
    assert await find(harness, answer_status=503) == [busy]
    assert await find(harness, answer_status=200) == [ok]
    assert await find(harness, answer_status=500) == []
    assert await find(harness, answer=Answer.client_error, answer_status=503) == []
    with pytest.raises(InvalidInput, match="answer_status must be from 100 to 999"):
        await find(harness, answer_status=99)


async def test_a_delivery_has_the_answer_to_its_last_attempt_until_it_is_replayed(harness: Harness) -> None:
    harness.pace(waits=())
    harness.receiver.respond = status(503)
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        await until(lambda: harness.are_all("failed"))
    [id] = await delivery_ids(harness)
    answered = await WEBHOOK_DELIVERIES.read(harness.pool, "answer_status")

    async with harness.act() as unit:
        await replays.replay(unit, id)

    assert answered == [503]
    assert await WEBHOOK_DELIVERIES.read(harness.pool, "answer_status") == [None]


async def test_only_failed_or_skipped_deliveries_are_replayed_since_an_instant(harness: Harness) -> None:
    subscription = await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()
    await WEBHOOK_DELIVERIES.change(harness.pool, status="delivered")

    async with harness.act() as unit:
        with pytest.raises(InvalidInput, match="status must be failed or skipped"):
            await replays.replay_since(unit, subscription.id, DeliveryStatus.delivered, harness.services.clock.now())

    assert await harness.states() == [("delivered", 0)]


async def test_a_description_that_is_too_long_is_refused_and_the_webhook_stays_as_it_is(harness: Harness) -> None:
    webhook = await endpoint(harness, "contact.created")
    before = await harness.subscription(webhook.id)

    with pytest.raises(InvalidInput, match=f"at most {MAX_DESCRIPTION} characters"):
        await harness.update(webhook.id, description="x" * (MAX_DESCRIPTION + 1))

    assert await harness.subscription(webhook.id) == before


async def test_warming_the_engine_delivers_and_records_nothing(harness: Harness) -> None:
    await harness.subscribe()
    await harness.tell("won")
    await harness.dispatcher.run()

    await harness.engine.warm()

    assert await harness.states() == [("pending", 0)]
    assert await WEBHOOK_ATTEMPTS.count(harness.pool) == 0
