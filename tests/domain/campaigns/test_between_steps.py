"""Changes beside the steps of a campaign, and a step that fails."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.campaigns import enqueue, service, snapshot
from app.domain.campaigns.planning import Candidate, Plan, Planned
from app.domain.campaigns.runner import CampaignRunner
from app.domain.erasure import merging
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from tests.domain.campaigns.conftest import Accept, Act, Make, Run
from tests.factories.billing import audit
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, add_people, audit_counts, states
from tests.factories.contacts import CONTACTS
from tests.factories.events import EVENTS
from tests.factories.messages import OUTBOUND, OUTGOING, calls
from tests.factories.quiet_hours import close_for_hours
from tests.factories.tables import ago

pytestmark = pytest.mark.anyio


async def test_a_contact_that_is_merged_while_its_text_waits_for_its_hour_gets_none_and_holds_up_no_other(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 2)
    await send()
    await accept(1)
    await CAMPAIGN_RECIPIENTS.change(pool, state="deferred", due_at=ago())
    into, other = sorted(await CONTACTS.read(pool, "id"))

    async with act() as unit:
        shown = await merging.preview(unit, Merge(into, other))
        await merging.merge(unit, Merge(into, other), shown.preview_id)
    assert await CAMPAIGN_RECIPIENTS.where(due_at=None).count(pool) == 1
    await run()

    assert await states(pool) == {"delivered": 1, "suppressed": 1}
    assert await CAMPAIGNS.only(pool, "status") == "completed"
    await audit_counts(pool)


async def test_a_campaign_without_credits_that_is_paused_stays_so_after_a_top_up(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act
) -> None:
    await add_people(pool, 3)
    async with act() as unit:
        await billing.grant(unit, -999, "taken")
    campaign = await send()
    await accept(3)
    short = await CAMPAIGNS.only(pool, "status", "reason")

    async with act() as unit:
        await service.pause(unit, campaign.id)
        await billing.grant(unit, 10, "top-up")
    await run()
    paused = await CAMPAIGNS.only(pool, "status", "reason"), await states(pool)
    async with act() as unit:
        await service.resume(unit, campaign.id)
    await run()

    assert short == ("paused", "insufficient_credits")
    assert paused == (("paused", "requested"), {"claimed": 1, "queued": 2})
    assert await states(pool) == {"delivered": 3}
    await audit(pool)


async def test_texts_that_wait_for_their_hours_wait_for_them_after_a_pause(
    pool: Pool, send: Make, accept: Accept, act: Act
) -> None:
    await close_for_hours(pool)
    await add_people(pool, 2)
    campaign = await send()
    await accept(2)
    before = await OUTGOING.read(pool, "message_id", "due_at")

    async with act() as unit:
        await service.pause(unit, campaign.id)
    held = await OUTGOING.read(pool, "due_at")
    async with act() as unit:
        await service.resume(unit, campaign.id)

    assert {each.year for each in held} == {9999}
    assert sorted(await OUTGOING.read(pool, "message_id", "due_at")) == sorted(before)
    assert sorted(before) == sorted(await OUTBOUND.read(pool, "id", "deferred_until"))


async def test_a_cancellation_beside_a_step_ends_at_once(
    pool: Pool, send: Make, accept: Accept, runner: CampaignRunner, act: Act
) -> None:
    await add_people(pool, 2)
    campaign = await send()
    await accept(1)

    async with runner._due() as (connection, taken):
        assert taken
        async with act() as unit:
            ended_at = (await service.cancel(unit, campaign.id)).campaign.ended_at
        await runner._step(connection, taken)

    assert await CAMPAIGNS.only(pool, "due_at") == ended_at


async def test_a_campaign_that_is_deleted_beside_a_step_leaves_nothing(
    pool: Pool, make: Make, accept: Accept, runner: CampaignRunner, act: Act
) -> None:
    campaign = await make()
    async with act() as unit:
        await service.cancel(unit, campaign.id)

    async with runner._due() as (connection, taken):
        assert taken
        async with act() as unit:
            await service.delete(unit, campaign.id)
        await runner._step(connection, taken)
    await accept(1)

    assert await CAMPAIGNS.count(pool) == 0


async def test_a_campaign_that_costs_more_than_allowed_is_paused_also_where_its_worker_dies_after_the_last_recipient(
    pool: Pool, send: Make, runner: CampaignRunner, run: Run
) -> None:
    await add_people(pool, 3)
    campaign = await send(service.Order(consent_attested=True, max_credits=2))

    async with runner._due() as (connection, taken):
        assert taken
        await runner._step(connection, taken)
    await run()

    assert await CAMPAIGNS.only(pool, "status", "reason", "due_at") == ("paused", "over_max_credits", None)
    assert await states(pool) == {"queued": 3}
    assert await OUTBOUND.count(pool) == 0
    [told] = await EVENTS.where(name="owners_notified").read(pool, "payload")
    assert (told["title"], told["subject_id"]) == ("The campaign Sale was paused", campaign.id)


async def test_a_step_that_fails_lets_other_campaigns_go_first(
    pool: Pool, send: Make, runner: CampaignRunner, accept: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_people(pool, 2)
    faulty, sound = await send(), await send()
    take = snapshot.take

    async def fail(connection: Any, campaign_id: int, *given: Any) -> Any:
        assert campaign_id != faulty.id, "this campaign fails"
        return await take(connection, campaign_id, *given)

    monkeypatch.setattr(snapshot, "take", fail)
    with pytest.raises(AssertionError, match="this campaign fails"):
        await accept(1)
    await runner.run()

    assert await states(pool, campaign_id=sound.id) == {"queued": 2}
    with pytest.raises(AssertionError, match="this campaign fails"):
        await accept(3)


@pytest.mark.parametrize(
    ("result", "left"),
    [
        ({"status": "delivered"}, ("delivered", "", 1)),
        ({"status": "failed", "error_code": "unreachable"}, ("failed", "unreachable", 0)),
        ({"status": "failed", "error_code": "contact_dnd"}, ("suppressed", "dnd", 0)),
    ],
)
async def test_an_erased_contact_leaves_the_result_of_its_text_whose_event_was_not_dispatched(
    pool: Pool, send: Make, accept: Accept, leave: Run, act: Act, *, result: dict[str, str], left: tuple[str, str, int]
) -> None:
    await add_people(pool, 1)
    await send()
    await accept(2)
    await leave()
    await OUTBOUND.change(pool, **result)

    async with act() as unit:
        await erasure.erase(unit, await CONTACTS.only(pool, "id"))

    assert await CAMPAIGN_RECIPIENTS.only(pool, "state", "reason", "credits") == left
    assert await CAMPAIGN_RECIPIENTS.only(pool, "contact_id", "phone", "message_id") == (None, None, None)
    await audit_counts(pool)


async def test_a_contact_that_is_erased_while_its_recipient_is_written_leaves_only_its_state(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_people(pool, 2)
    await send()
    erased = min(await CONTACTS.read(pool, "id"))
    plan_all, erasing = Plan.plan_all, list[asyncio.Task[None]]()

    async def erase() -> None:
        async with act() as unit:
            await erasure.erase(unit, erased)

    async def plan_beside(self: Plan, found: Sequence[Candidate]) -> Planned:
        erasing.append(asyncio.create_task(erase()))
        await asyncio.wait(erasing, timeout=0.3)
        return await plan_all(self, found)

    monkeypatch.setattr(Plan, "plan_all", plan_beside)
    await accept(1)
    await asyncio.gather(*erasing)
    await run()

    assert await CAMPAIGN_RECIPIENTS.where(contact_id=erased).count(pool) == 0
    assert await CAMPAIGN_RECIPIENTS.where(phone=None).only(pool, "state", "reason") == (
        "suppressed",
        "contact_deleted",
    )
    assert await states(pool) == {"suppressed": 1, "delivered": 1}
    await audit_counts(pool)


async def test_an_opt_out_is_one_to_the_last_text_that_left_and_not_to_one_that_waits(
    pool: Pool, send: Make, accept: Accept, run: Run, text: Callable[[str, str], Awaitable[None]]
) -> None:
    await add_people(pool, 1)
    first = await send()
    await run()
    await send()
    await accept(1)

    await text("STOP", await CONTACTS.only(pool, "phone"))
    await run()

    assert await CAMPAIGN_RECIPIENTS.where_not(opted_out_at=None).read(pool, "campaign_id") == [first.id]


async def test_texts_that_their_hand_off_puts_off_wait_for_their_hour_also_where_no_other_is_left(
    pool: Pool, send: Make, accept: Accept, leave: Run
) -> None:
    await add_people(pool, 3)
    await send()
    await accept(2)

    await close_for_hours(pool)
    await leave()
    await accept(1)

    assert await CAMPAIGN_RECIPIENTS.read(pool, "state", "reason") == [("claimed", "deferred")] * 3
    assert await calls(pool) == []
    await audit_counts(pool)


async def test_texts_that_their_hand_off_puts_off_keep_no_other_text_waiting(
    pool: Pool, send: Make, accept: Accept, leave: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "WINDOW", 2)
    await add_people(pool, 3)
    await send()
    await accept(3)
    before = await states(pool)

    await close_for_hours(pool)
    await leave()
    await accept(3)

    assert before == {"claimed": 2, "queued": 1}
    assert await CAMPAIGN_RECIPIENTS.read(pool, "state", "reason") == [("claimed", "deferred")] * 3
    assert await calls(pool) == []
    await audit_counts(pool)
