"""Pausing, resuming, canceling, deleting: nothing leaves afterwards, and each recipient keeps one state."""

from datetime import timedelta

import pytest
from sqlalchemy import Select

from app.db.engine import Pool
from app.domain.campaigns import batches, breaker, concurrency, runner, service
from app.domain.campaigns.models import PauseReason
from app.domain.campaigns.rows import Result
from app.domain.campaigns.service import Order
from app.domain.carriers.carrier import InboundMessage
from app.domain.erasure import service as erasure
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.messages import connections
from app.domain.messages.errors import ConsentNotAttested
from app.domain.messages.sending import cancellation, scheduling
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.campaigns.conftest import NOW, Accept, Act, Make, Run
from tests.domain.messages.handing import hand_over
from tests.factories.accounts import USERS, add_user
from tests.factories.billing import audit, balance_of
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, add_people, audit_counts, states
from tests.factories.contacts import CONTACTS
from tests.factories.events import EVENTS
from tests.factories.messages import OUTBOUND, OUTGOING, calls
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.tables import ago, ahead

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def batches_of_200(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one step accept 200 texts."""
    monkeypatch.setattr(batches, "BATCH", 200)
    monkeypatch.setattr(concurrency, "AT_ONCE", 0)


async def test_a_pause_stops_waiting_texts_and_a_resume_sends_each_once(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 250)
    campaign = await send()
    await accept(2)
    async with act() as unit:
        await service.pause(unit, campaign.id)

    await run()
    paused = await states(pool), await calls(pool), await CAMPAIGNS.only(pool, "status", "reason")
    async with act() as unit:
        await service.resume(unit, campaign.id)
    await run()

    assert paused == ({"claimed": 200, "queued": 50}, [], ("paused", "requested"))
    assert await states(pool) == {"delivered": 250}
    assert {times for _, times in await calls(pool)} == {1}
    await audit(pool)
    await audit_counts(pool)


async def test_a_cancellation_of_many_ends_in_steps_and_counts_them_at_once(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "QUEUED_AT_ONCE", 20)
    await add_people(pool, 250)
    campaign = await send()
    await accept(1)

    async with act() as unit:
        done = await service.cancel(unit, campaign.id)
    canceled = await states(pool)
    await accept(2)
    halfway = await states(pool)
    await run()

    assert (done.canceled, canceled, halfway) == (250, {"queued": 250}, {"queued": 210, "canceled": 40})
    assert (await states(pool), await OUTBOUND.count(pool)) == ({"canceled": 250}, 0)


async def test_a_cancellation_counts_texts_by_results_whose_events_are_not_dispatched_yet(
    services: Services, pool: Pool, account: Opened, send: Make, accept: Accept, *, run: Run, act: Act
) -> None:
    await add_people(pool, 6)
    campaign = await send()
    await accept(2)
    await OUTGOING.change(pool, due_at=ahead(hours=1))
    first, second, third, fourth = sorted(await OUTGOING.read(pool, "message_id"))[:4]
    await OUTGOING.where(message_id=first).change(pool, due_at=ago())
    await hand_over(services.handoff)
    await OUTGOING.where(message_id=second).change(pool, claimed_until=ahead(hours=1))
    phone = await OUTBOUND.where(id=third).only(pool, "to_number")
    await services.inbox.receive("sandbox", InboundMessage("stop", phone, account.phone_number, "STOP"))
    async with act() as unit:
        await scheduling.cancel(unit, fourth)

    async with act() as unit:
        done = await service.cancel(unit, campaign.id)

    assert (done.canceled, done.left, done.in_flight) == (3, 1, 1)
    await OUTGOING.where(message_id=second).change(pool, claimed_until=None)
    await run()
    assert await states(pool) == {"delivered": 1, "suppressed": 1, "canceled": 4}


@pytest.mark.parametrize("is_before", [True, False])
async def test_a_cancellation_counts_a_text_once_whose_result_is_dispatched_meanwhile(
    services: Services,
    pool: Pool,
    send: Make,
    accept: Accept,
    leave: Run,
    *,
    act: Act,
    is_before: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await add_people(pool, 6)
    campaign = await send()
    await accept(2)
    await OUTGOING.change(pool, due_at=ahead(hours=1))
    first, second = sorted(await OUTGOING.read(pool, "message_id"))[:2]
    await OUTGOING.where(message_id=first).change(pool, due_at=ago())
    await hand_over(services.handoff)
    await OUTGOING.where(message_id=second).change(pool, claimed_until=ahead(hours=1))
    hold = cancellation.hold

    async def hold_meanwhile(unit: UnitOfWork, ids: Select[int]) -> int:
        if is_before:
            await leave()
        held = await hold(unit, ids)
        if not is_before:
            await leave()
        return held

    monkeypatch.setattr(cancellation, "hold", hold_meanwhile)
    async with act() as unit:
        done = await service.cancel(unit, campaign.id)

    assert await states(pool) == {"claimed": 5, "sent": 1}
    assert (done.canceled, done.left, done.in_flight) == (4, 1, 1)


async def test_a_cancellation_counts_the_texts_that_had_left_and_refunds_the_others(
    pool: Pool, send: Make, accept: Accept, leave: Run, run: Run, act: Act
) -> None:
    await add_people(pool, 450)
    campaign = await send()
    await accept(2)
    await leave()
    await accept(1)

    async with act() as unit:
        done = await service.cancel(unit, campaign.id)
    await run()

    assert (done.canceled, done.left, done.in_flight) == (250, 200, 0)
    assert await states(pool) == {"delivered": 200, "canceled": 250}
    assert len(await calls(pool)) == 200
    assert await balance_of(pool) == 800
    assert await OUTBOUND.where(status="failed").count(pool) == 200
    assert await CAMPAIGNS.only(pool, "status", "due_at") == ("canceled", None)
    await audit(pool)
    await audit_counts(pool)


@pytest.mark.parametrize("steps", [1, 2])
async def test_an_erased_contact_leaves_only_its_state(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act, steps: int
) -> None:
    await add_people(pool, 2)
    await send()
    await accept(steps)
    erased = await CONTACTS.where(first_name="Ann0").only(pool, "id")

    async with act() as unit:
        await erasure.erase(unit, erased)
    await run()

    [row] = await CAMPAIGN_RECIPIENTS.where(phone=None).read(pool)
    assert (row["contact_id"], row["message_id"], row["body"]) == (None, None, "")
    assert (row["state"], row["reason"]) == ("suppressed", "contact_deleted")
    assert await states(pool) == {"suppressed": 1, "delivered": 1}
    assert await CAMPAIGNS.only(pool, "status") == "completed"
    await audit_counts(pool)


async def test_an_erased_contact_whose_text_had_left_counts_as_sent(
    services: Services, pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 2)
    await send()
    await accept(2)
    await hand_over(services.handoff)
    erased = await CONTACTS.where(first_name="Ann0").only(pool, "id")

    async with act() as unit:
        await erasure.erase(unit, erased)
    await run()

    assert await states(pool) == {"sent": 1, "delivered": 1}
    assert await CAMPAIGNS.only(pool, "status") == "completed"
    await audit_counts(pool)


async def test_an_erased_contact_whose_text_is_in_a_call_counts_as_sent_and_is_paid_until_the_call_has_ended(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 2)
    await send()
    await accept(2)
    await OUTGOING.change(pool, claimed_until=ahead(minutes=1))

    async with act() as unit:
        await erasure.erase(unit, await CONTACTS.where(first_name="Ann0").only(pool, "id"))

    [row] = await CAMPAIGN_RECIPIENTS.where(phone=None).read(pool, "state", "credits", "message_id")
    assert (*row,) == ("sent", 1, None)
    assert await balance_of(pool) == 998
    await audit_counts(pool)


def results(delivered: int, failed: int = 0, code: str = "filtered", opt_outs: int = 0) -> list[Result]:
    return [
        *[Result("failed", code, None)] * failed,
        *[Result("delivered", "", ago())] * opt_outs,
        *[Result("delivered", "", None)] * (delivered - opt_outs),
    ]


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (results(180, 20), None),
        (results(179, 21), PauseReason.filtered),
        (results(20, 20), None),
        (results(200, opt_outs=6), None),
        (results(200, opt_outs=7), PauseReason.opt_outs),
        (results(0, 5, "sender_invalid"), None),
        (results(0, 6, "sender_invalid"), PauseReason.sender_refused),
        (results(150, 50, "unreachable"), None),
    ],
)
def test_the_breaker_stops_by_the_last_results(found: list[Result], reason: PauseReason | None) -> None:
    assert breaker.judge(found) == reason


async def test_a_broken_campaign_goes_on_by_the_results_since_it_was_resumed(
    pool: Pool, send: Make, run: Run, act: Act
) -> None:
    await add_people(pool, 70)
    campaign = await send()
    await run()
    await CAMPAIGN_RECIPIENTS.change(pool, state="failed", reason="filtered")
    await CAMPAIGNS.change(pool, status="sending", due_at=ago())
    await run()
    broken = await CAMPAIGNS.only(pool, "status", "reason")

    async with act() as unit:
        await service.resume(unit, campaign.id)
    await run()

    assert broken == ("paused", "filtered")
    assert await CAMPAIGNS.only(pool, "status") == "completed"


async def test_a_campaign_is_paused_when_its_sender_is_removed_and_resumed_when_another_user_attests_consent(
    services: Services, account: Opened, make: Make, accept: Accept, run: Run, act: Act
) -> None:
    pool = services.database.pool
    await add_people(pool, 450)
    id = await add_user(services, account.account_id, "ann@example.com")
    campaign = await make()
    async with unit_of(services, Actor(account.account_id, frozenset(), f"user:{id}", user_id=id)) as unit:
        await service.send(unit, campaign.id, NOW)
    await accept(2)
    await USERS.where(id=id).change(services, removed_at=ago())

    await accept(1)
    await run()
    paused = await states(pool), await calls(pool), await CAMPAIGNS.only(pool, "status", "reason")
    with pytest.raises(ConsentNotAttested):
        async with act() as unit:
            await service.resume(unit, campaign.id)
    still = await CAMPAIGNS.only(pool, "status", "actor")
    async with act() as unit:
        await service.resume(unit, campaign.id, consent_attested=True)
    await run()

    assert paused == ({"claimed": 200, "queued": 250}, [], ("paused", "credential_ended"))
    assert still == ("paused", f"user:{id}")
    assert (await states(pool), await CAMPAIGNS.only(pool, "status", "actor")) == (
        {"delivered": 450},
        ("completed", "key:7"),
    )
    assert {times for _, times in await calls(pool)} == {1}
    await audit(pool)


async def test_a_scheduled_campaign_is_paused_at_its_time_when_its_sender_has_ended(
    services: Services, account: Opened, pool: Pool, make: Make, accept: Accept, run: Run
) -> None:
    await add_people(pool, 3)
    id = await add_user(services, account.account_id, "ann@example.com")
    campaign = await make()
    order = Order(consent_attested=True, at=services.clock.now() + timedelta(seconds=1))
    async with unit_of(services, Actor(account.account_id, frozenset(), f"user:{id}", user_id=id)) as unit:
        await service.send(unit, campaign.id, order)
    await USERS.where(id=id).change(services, removed_at=ago())

    await accept(3)
    await run()

    assert (await CAMPAIGNS.only(pool, "status", "reason"), await calls(pool)) == (("paused", "credential_ended"), [])


async def test_each_change_of_a_campaign_and_its_end_are_live_updates(
    pool: Pool, send: Make, run: Run, act: Act
) -> None:
    async def told() -> int:
        return await EVENTS.where(name="campaign_progress").count(pool)

    await add_people(pool, 1)
    campaign = await send()
    counts = [await told()]
    for change in (service.pause, service.pause, service.resume):
        async with act() as unit:
            await change(unit, campaign.id)
        counts.append(await told())
    await run()
    payloads = await EVENTS.where(name="campaign_progress").read(pool, "payload")

    assert counts == [1, 2, 2, 3]
    assert await CAMPAIGNS.only(pool, "status") == "completed"
    assert await told() == 5
    assert {payload["campaign_id"] for payload in payloads} == {campaign.id}


async def test_texts_of_a_released_number_are_refunded_also_where_the_campaign_stops_before_they_fail(
    pool: Pool, send: Make, accept: Accept, leave: Run, act: Act
) -> None:
    await add_people(pool, 3)
    campaign = await send()
    await accept(2)
    async with act() as unit:
        await connections.release_number(unit, await PHONE_NUMBERS.only(pool, "id"))
        await service.pause(unit, campaign.id)

    await leave()

    assert await states(pool) == {"failed": 3}
    assert await calls(pool) == []
    assert await balance_of(pool) == 1000
    await audit(pool)
