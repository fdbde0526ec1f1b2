"""Deleting, canceling and breaking down campaigns of any size: a step at a time, and by their counts."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import breakdown, breaker, enqueue, planning, queries, runner, service
from app.domain.campaigns.breakdown import BreakdownGroup
from app.domain.campaigns.restraints import restraint
from app.domain.contacts.sql import walk
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.paging import Window
from app.domain.onboarding.service import Opened
from tests.domain.campaigns.conftest import EVERYONE, Accept, Act, Make, Run
from tests.factories.billing import audit
from tests.factories.campaigns import (
    CAMPAIGN_COUNTS,
    CAMPAIGN_RECIPIENTS,
    CAMPAIGNS,
    add_people,
    add_unreached,
    audit_counts,
    states,
)
from tests.factories.messages import OUTBOUND, OUTGOING
from tests.factories.plans import NO_SEQUENTIAL_SCANS, list_kept_plan, plan, statistics_of_an_empty_table
from tests.factories.tables import ahead

pytestmark = pytest.mark.anyio


async def test_a_campaign_that_runs_is_not_deleted(pool: Pool, send: Make, accept: Accept, act: Act) -> None:
    await add_people(pool, 2)
    campaign = await send()
    await accept(1)

    with pytest.raises(Conflict, match="Cancel it before it is deleted"):
        async with act() as unit:
            await service.delete(unit, campaign.id)

    assert (await CAMPAIGNS.only(pool, "deleted_at"), await CAMPAIGN_RECIPIENTS.count(pool)) == (None, 2)


async def test_a_campaign_with_texts_in_flight_is_not_deleted(pool: Pool, send: Make, accept: Accept, act: Act) -> None:
    await add_people(pool, 2)
    campaign = await send()
    await accept(2)
    await CAMPAIGNS.change(pool, status="canceled", due_at=None)

    with pytest.raises(Conflict, match="in flight"):
        async with act() as unit:
            await service.delete(unit, campaign.id)

    assert await CAMPAIGNS.only(pool, "deleted_at") is None


async def test_a_deleted_campaign_is_gone_at_once_and_its_recipients_a_step_at_a_time(
    pool: Pool, send: Make, accept: Accept, run: Run, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "DELETED_AT_ONCE", 2)
    await add_people(pool, 5)
    campaign = await send()
    await run()

    async with act() as unit:
        await service.delete(unit, campaign.id)
    async with act() as unit:
        listed = (await queries.find_page(unit, None, None, Window(10))).nodes
        with pytest.raises(NotFound):
            await queries.get(unit, campaign.id)
    await accept(2)
    halfway = await CAMPAIGN_RECIPIENTS.count(pool), await CAMPAIGNS.count(pool)
    await run()

    assert (list(listed), halfway) == ([], (1, 1))
    assert [await rows.count(pool) for rows in (CAMPAIGNS, CAMPAIGN_RECIPIENTS, CAMPAIGN_COUNTS)] == [0, 0, 0]
    assert await OUTBOUND.count(pool) == 5


async def test_a_draft_is_deleted(pool: Pool, make: Make, run: Run, act: Act) -> None:
    campaign = await make()

    async with act() as unit:
        assert await service.delete(unit, campaign.id) == campaign.id
    await run()

    assert await CAMPAIGNS.count(pool) == 0


async def test_texts_in_flight_keep_no_other_text_from_being_canceled(
    pool: Pool, send: Make, accept: Accept, act: Act
) -> None:
    await add_people(pool, 200)
    campaign = await send()
    await accept(2)
    ids = sorted(await OUTGOING.read(pool, "message_id"))
    for id in ids[:150]:
        await OUTGOING.where(message_id=id).change(pool, claimed_until=ahead(hours=1))

    async with act() as unit:
        done = await service.cancel(unit, campaign.id)
    await accept(1)

    assert (done.canceled, done.left, done.in_flight) == (50, 0, 150)
    assert await states(pool) == {"claimed": 150, "canceled": 50}
    assert await CAMPAIGNS.only(pool, "due_at") is not None
    await audit(pool)
    await audit_counts(pool)


async def test_a_breakdown_by_state_or_reason_has_the_answers_of_each(
    pool: Pool,
    add: Callable[..., Awaitable[int]],
    act: Act,
    send: Make,
    run: Run,
    text: Callable[..., Any],
) -> None:
    for number in range(3):
        await add(f"+1202555014{number}")
    await add("+12025550143", dnd_sms=True)
    campaign = await send(body="Hi")
    await run()
    await text("STOP", "+12025550140")
    await text("Which shoes?", "+12025550141")
    await run()

    async with act() as unit:
        by_state = await breakdown.break_down(unit, campaign.id, BreakdownGroup.state)
        by_reason = await breakdown.break_down(unit, campaign.id, BreakdownGroup.reason)

    delivered = 3, 0, 3, 0, 1, 1, 3, 3
    assert by_state == [
        breakdown.BreakdownRow("delivered", *delivered),
        breakdown.BreakdownRow("suppressed", 1, 0, 0, 0, 0, 0, 0, 0),
    ]
    assert by_reason == [
        breakdown.BreakdownRow("delivered", *delivered),
        breakdown.BreakdownRow("dnd", 1, 0, 0, 0, 0, 0, 0, 0),
    ]


async def test_a_breakdown_by_hour_or_parts_names_them(
    pool: Pool, add: Callable[..., Awaitable[int]], act: Act, send: Make, run: Run
) -> None:
    await add("+12025550140")
    await add("+12025550141")
    await add("+12025550143", dnd_sms=True)
    campaign = await send(body="Hi")
    await run()
    await CAMPAIGN_RECIPIENTS.where(state="delivered").change(pool, sent_at=datetime(2026, 11, 23, 9, 59, tzinfo=UTC))

    async with act() as unit:
        hours = await breakdown.break_down(unit, campaign.id, BreakdownGroup.hour)
        parts = await breakdown.break_down(unit, campaign.id, BreakdownGroup.segments)

    assert [(row.key, row.recipients) for row in hours] == [("2026-11-23T09:00Z", 2), ("", 1)]
    assert [(row.key, row.recipients) for row in parts] == [("1", 2), ("0", 1)]


async def test_a_batch_finds_each_recipient_by_its_whole_key_and_reads_no_others(
    pool: Pool, send: Make, accept: Accept
) -> None:
    async with statistics_of_an_empty_table(pool, CAMPAIGN_RECIPIENTS):
        await add_people(pool, 500)
        campaign = await send()
        await accept(1)
        ids = sorted(await CAMPAIGN_RECIPIENTS.where(state="queued").read(pool, "id"))[:10]
        decided = [[value] * 10 for value in ("claimed", "", 1, "+12025550143", 1, 1)]
        found = await plan(pool, enqueue.DECIDE, ids, *decided, datetime(2026, 1, 1, tzinfo=UTC), campaign.id)

    assert "AND (id = ANY (" in found


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        (runner.CANCEL_QUEUED, (datetime(2026, 1, 1, tzinfo=UTC), runner.QUEUED_AT_ONCE)),
        (runner.DELETE_RECIPIENTS, (runner.DELETED_AT_ONCE,)),
    ],
)
async def test_a_step_of_a_new_campaign_compares_no_recipient_that_it_ends_with_all_others(
    pool: Pool, send: Make, accept: Accept, statement: str, arguments: tuple[object, ...]
) -> None:
    async with statistics_of_an_empty_table(pool, CAMPAIGN_RECIPIENTS):
        await add_people(pool, 500)
        campaign = await send()
        await accept(1)
        found = await plan(pool, statement, campaign.id, *arguments)

    assert "Tid Scan" in found or "Hash Cond: (r.ctid = " in found, found
    assert "Join Filter" not in found, found


async def test_a_text_of_a_campaign_that_is_newer_than_the_statistics_is_found_by_its_whole_key(
    pool: Pool, send: Make, accept: Accept
) -> None:
    await add_people(pool, 500)
    await send()
    await accept(1)
    newer = await CAMPAIGNS.only(pool, "id") + 1
    columns = [1], [1], [1], None, None, None, [], [], None
    lines = await list_kept_plan(
        pool,
        CAMPAIGN_RECIPIENTS,
        f"SELECT $1::int, $2::int, $3::int, $4::int, $5::int, place_of_row FROM ({enqueue.TEXTS}) AS texts",
        *range(5),
        *columns,
        newer,
        settings=[NO_SEQUENTIAL_SCANS],
    )

    assert any("Index Cond: ((campaign_id = " in line and "AND (id = d.id))" in line for line in lines), lines


async def test_the_last_results_of_a_campaign_are_read_in_their_order_however_many_there_are(pool: Pool) -> None:
    settings = [NO_SEQUENTIAL_SCANS, f"SELECT * FROM {runner.SETTINGS}"]
    found = await list_kept_plan(pool, CAMPAIGN_RECIPIENTS, breaker.FIND, 1, settings=settings)

    assert not [line for line in found if "Sort" in line], found
    assert any("Index Scan Backward using ix_campaign_recipients_settled_at" in line for line in found), found
    assert any("Index Cond: ((campaign_id = $1) AND (settled_at >= " in line for line in found), found


async def test_the_texts_that_did_not_reach_a_contact_are_found_by_their_index_however_many_an_account_has(
    pool: Pool, account: Opened
) -> None:
    await add_people(pool, 5000)
    await add_unreached(pool, 1000, 4)
    unused = "$5::int, $6::int, $7::int"
    statement = f"SELECT {unused}, {restraint(EVERYONE)} FROM {walk(*planning.WALKED)} ORDER BY c.phone"

    found = await list_kept_plan(pool, CAMPAIGN_RECIPIENTS, statement, *range(8), settings=["ANALYZE contacts"])

    scans = [place for place, line in enumerate(found) if "ix_campaign_recipients_unreachable" in line]
    assert ["(account_id = $1) AND (contact_id = c.id)" in found[place + 1] for place in scans] == [True, True], found
    assert not [line for line in found if "Seq Scan on campaign_recipients" in line], found
