"""Sending a campaign: each recipient once, for the price that was counted."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.campaigns import batches, enqueue, service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.errors import OverMaxCredits, PreviewOutdated
from app.domain.campaigns.runner import DEFERRED_LOOK, CampaignRunner
from app.domain.campaigns.service import Order
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.errors import ConsentNotAttested
from app.services import Services
from tests.domain.campaigns.conftest import Accept, Act, Make, Run, preview_of
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import audit, balance_of, entries
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, CAMPAIGNS, add_people, audit_counts, reasons, states
from tests.factories.clocks import At, Moving
from tests.factories.contacts import CONSENTS
from tests.factories.messages import MESSAGES, OUTBOUND, calls
from tests.factories.notices import NOTICES
from tests.factories.quiet_hours import obey_the_law
from tests.factories.tables import ahead

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]


async def test_each_recipient_gets_its_text_once_and_is_delivered(pool: Pool, add: Add, send: Make, run: Run) -> None:
    for number, name in enumerate(("Ann", "Ben", "Zoë")):
        await add(f"+1202555014{number}", first_name=name)

    campaign = await send()
    await run()

    assert campaign.status == "sending"
    assert await CAMPAIGNS.only(pool, "status") == "completed"
    assert await states(pool) == {"delivered": 3}
    assert sorted(await calls(pool)) == [
        ("Hi Ann, our sale begins today.", 1),
        ("Hi Ben, our sale begins today.", 1),
        ("Hi Zoë, our sale begins today.", 1),
    ]
    assert await OUTBOUND.read(pool, "purpose", "actor") == [("promotional", f"campaign:{campaign.id}")] * 3
    assert await entries(pool) == [("debit", -1, 999), ("debit", -1, 998), ("debit", -1, 997)]
    assert await CONSENTS.read(pool, "method", "actor") == [("campaign", f"campaign:{campaign.id}")] * 3
    await audit(pool)
    await audit_counts(pool)


async def test_contacts_that_must_not_be_texted_are_suppressed_with_the_reason(
    pool: Pool, add: Add, send: Make, run: Run, text: Callable[..., Any]
) -> None:
    await add("+12025550140", first_name="Ann")
    await add("+12025550141", status="opted_out")
    await add("+12025550142", dnd_sms=True)
    await add("+12025550143")
    await text("STOP what time is the showing", "+12025550143")
    await add("+15555550144")
    await add("+442079460958")
    await add("+12025550145", tags=["staff"])

    await send(audience=Audience(everyone=True, excluded_tags=["staff"]))
    await run()

    assert await reasons(pool) == {
        "+12025550141": "opted_out",
        "+12025550142": "dnd",
        "+12025550143": "possible_opt_out_hold",
        "+15555550144": "invalid_phone",
        "+442079460958": "landline",
        "+12025550145": "excluded",
    }
    assert await states(pool) == {"delivered": 1, "suppressed": 6}
    assert await OUTBOUND.read(pool, "to_number") == ["+12025550140"]
    await audit_counts(pool)


async def test_an_opt_out_after_the_snapshot_is_obeyed(
    pool: Pool, add: Add, send: Make, run: Run, accept: Accept, text: Callable[..., Any]
) -> None:
    await add("+12025550140", first_name="Ann")
    await send()
    await accept(1)

    await text("STOP", "+12025550140")
    await run()

    assert await reasons(pool) == {"+12025550140": "opted_out"}
    assert await OUTBOUND.where(purpose="promotional").count(pool) == 0
    await audit_counts(pool)


async def test_an_opt_out_after_the_acceptance_suppresses_the_recipient_and_refunds_the_text(
    pool: Pool, add: Add, send: Make, run: Run, accept: Accept, text: Callable[..., Any]
) -> None:
    await add("+12025550140", first_name="Ann")
    await send()
    await accept(2)

    await text("STOP", "+12025550140")
    await run()

    assert await states(pool) == {"suppressed": 1}
    assert await reasons(pool) == {"+12025550140": "opted_out"}
    assert await balance_of(pool) == 1000
    await audit(pool)
    await audit_counts(pool)


async def test_strict_campaigns_suppress_contacts_that_lack_a_value(pool: Pool, add: Add, send: Make, run: Run) -> None:
    await add("+12025550140", first_name="Ann")
    await add("+12025550141")

    await send(is_strict=True)
    await run()

    assert await reasons(pool) == {"+12025550141": "missing_merge_field"}


async def test_exhausted_credits_pause_a_campaign_and_a_top_up_lets_it_go_on(
    pool: Pool, send: Make, run: Run, act: Act
) -> None:
    await add_people(pool, 5)
    async with act() as unit:
        await billing.grant(unit, -997, "taken")
    await send()
    await run()
    stopped = await CAMPAIGNS.only(pool, "status", "reason"), await states(pool)

    async with act() as unit:
        await billing.grant(unit, 10, "a top-up")
    await CAMPAIGNS.age(pool, "due_at", seconds=10)
    await run()

    assert stopped == (("paused", "insufficient_credits"), {"delivered": 3, "queued": 2})
    assert await CAMPAIGNS.only(pool, "status", "reason") == ("completed", "")
    assert await states(pool) == {"delivered": 5}
    assert await OUTBOUND.where(status="failed").count(pool) == 0
    await audit(pool)


async def test_a_campaign_that_costs_more_than_allowed_sends_nothing_until_more_is_allowed(
    pool: Pool, send: Make, run: Run, act: Act
) -> None:
    await add_people(pool, 3)
    campaign = await send(Order(consent_attested=True, max_credits=2))
    await run()
    stopped = await CAMPAIGNS.only(pool, "status", "reason"), await OUTBOUND.count(pool)

    for limit in (None, 1, 2):
        with pytest.raises(OverMaxCredits, match="costs 3 credits"):
            async with act() as unit:
                await service.resume(unit, campaign.id, limit)
    await run()
    refused = await CAMPAIGNS.only(pool, "status", "max_credits"), await OUTBOUND.count(pool)
    async with act() as unit:
        await service.resume(unit, campaign.id, 3)
    await run()

    assert (stopped, refused) == ((("paused", "over_max_credits"), 0), (("paused", 2), 0))
    assert await states(pool) == {"delivered": 3}


async def test_a_preview_states_the_exact_cost_of_the_campaign(
    services: Services, pool: Pool, add: Add, make: Make, act: Act, run: Run
) -> None:
    await add("+12025550140", first_name="Ann")
    await add("+12025550141", first_name="Ана")
    await add("+12025550142", dnd_sms=True)
    campaign = await make(body="{first_name}, " + "a" * 60)

    shown = await preview_of(services, act, campaign.id)
    async with act() as unit:
        order = Order(consent_attested=True, preview_id=shown.preview_id, max_credits=shown.credits)
        await service.send(unit, campaign.id, order)
    await run()

    assert (shown.audience, shown.recipients, shown.excluded) == (3, 2, {"dnd": 1})
    assert (shown.histogram, shown.encodings) == ({1: 2}, {"GSM-7": 1, "UCS-2": 1})
    assert [each.body for each in shown.samples] == [f"Ann, {'a' * 60}", f"Ана, {'a' * 60}"]
    assert shown.credits == 1000 - await balance_of(pool) == 2


async def test_a_send_is_refused_when_its_preview_is_outdated_or_it_costs_more_than_allowed(
    services: Services, pool: Pool, add: Add, make: Make, act: Act
) -> None:
    for number in range(2):
        await add(f"+1202555014{number}", first_name="Ann")
    campaign = await make()
    shown = await preview_of(services, act, campaign.id)
    await add("+12025550149", first_name="Ben")
    later = await preview_of(services, act, campaign.id)

    for order, error in (
        (Order(consent_attested=True, preview_id=shown.preview_id), PreviewOutdated),
        (Order(consent_attested=True, preview_id="3-3-x"), PreviewOutdated),
        (Order(consent_attested=True, preview_id="x"), InvalidInput),
        (Order(consent_attested=True, preview_id=later.preview_id, max_credits=2), OverMaxCredits),
        (Order(consent_attested=False), ConsentNotAttested),
        (Order(consent_attested=True, at=ahead(days=-1)), InvalidInput),
    ):
        async with act() as unit:
            with pytest.raises(error):
                await service.send(unit, campaign.id, order)

    assert await CAMPAIGNS.only(pool, "status") == "draft"


async def test_a_scheduled_campaign_starts_at_its_time(pool: Pool, add: Add, make: Make, act: Act, run: Run) -> None:
    await add("+12025550140", first_name="Ann")
    campaign = await make(body="Hello {first_name}")
    async with act() as unit:
        await service.send(unit, campaign.id, Order(consent_attested=True, at=ahead(hours=1)))
    await run()
    before = await CAMPAIGNS.only(pool, "status"), await OUTBOUND.count(pool)

    await CAMPAIGNS.age(pool, "due_at", hours=2)
    await run()

    assert before == ("scheduled", 0)
    assert await calls(pool) == [("Hello Ann", 1)]


async def test_a_scheduled_campaign_is_not_changed_or_sent_before_it_is_unscheduled(
    pool: Pool, add: Add, make: Make, act: Act
) -> None:
    await add("+12025550140")
    campaign = await make(body="Hello")
    async with act() as unit:
        await service.send(unit, campaign.id, Order(consent_attested=True, at=ahead(hours=1)))

    async with act() as unit:
        with pytest.raises(Conflict, match="Unschedule it before it is changed"):
            await service.update(unit, campaign.id, {"body": "Buy now"})
        with pytest.raises(Conflict, match="Unschedule it before it is sent"):
            await service.send(unit, campaign.id, Order(consent_attested=True))
    unchanged = await CAMPAIGNS.only(pool, "status", "body")
    async with act() as unit:
        await service.unschedule(unit, campaign.id)
        changed = await service.update(unit, campaign.id, {"body": "Hello you"})

    assert unchanged == ("scheduled", "Hello")
    assert (changed.status, changed.body) == ("draft", "Hello you")


async def test_a_draft_changes_only_while_it_has_the_version_that_its_editor_has_read(
    pool: Pool, make: Make, act: Act
) -> None:
    campaign = await make(name="Sale", body="Hello")
    async with act() as unit:
        await service.update(unit, campaign.id, {"body": "Hello you"}, expected_version=1)
        await service.update(unit, campaign.id, {"body": "Hello you"}, expected_version=2)

    async with act() as unit:
        with pytest.raises(Conflict, match="The campaign has version 2, not 1: it was changed"):
            await service.update(unit, campaign.id, {"name": "Other"}, expected_version=1)
    assert await CAMPAIGNS.only(pool, "name", "body", "version") == ("Sale", "Hello you", 2)


async def test_a_campaign_without_an_audience_is_not_sent(make: Make, act: Act) -> None:
    campaign = await make(audience=Audience())

    async with act() as unit:
        with pytest.raises(Conflict, match="has no audience"):
            await service.send(unit, campaign.id, Order(consent_attested=True))


async def test_a_campaign_without_recipients_fails(pool: Pool, add: Add, send: Make, run: Run) -> None:
    await add("+12025550140", dnd_sms=True)

    await send()
    await run()

    assert await CAMPAIGNS.only(pool, "status", "reason") == ("failed", "no_recipients")
    assert await NOTICES.only(pool, "kind", "title", "body") == (
        "campaign",
        "The campaign Sale has failed",
        "No contact of its audience may be texted.",
    )


async def test_texts_that_wait_for_the_morning_keep_no_other_text_waiting(
    services: Services, pool: Pool, add: Add, send: Make, runner: CampaignRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "WINDOW", 2)
    await obey_the_law(pool)
    for phone in (
        "+12133734250",
        "+12133734251",
        "+12133734252",
        "+12123734253",
    ):  # three in California, one in New York
        await add(phone)
    await send()
    clock = At(datetime(2030, 1, 15, 14, tzinfo=UTC))  # 6:00 in California, 9:00 in New York
    acceptor = SendAcceptor(pool, clock, services.notify, services.connections)
    worker = replace(runner, acceptor=acceptor)

    for _ in range(6):
        assert isinstance(worker.clock, Moving)
        worker.clock.move(seconds=1)
        await worker.run()

    counted = await CAMPAIGN_RECIPIENTS.read(pool, "phone", "state", "reason")
    assert sorted(tuple(row) for row in counted) == [
        ("+12123734253", "claimed", ""),
        ("+12133734250", "claimed", "deferred"),
        ("+12133734251", "claimed", "deferred"),
        ("+12133734252", "claimed", "deferred"),
    ]
    assert await CAMPAIGNS.only(pool, "status") == "sending"


async def test_only_so_many_texts_wait_for_their_carriers_at_a_time(
    pool: Pool, send: Make, accept: Accept, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "WINDOW", 6)
    monkeypatch.setattr(batches, "BATCH", 4)
    await add_people(pool, 10)
    await send()
    await accept(6)
    waiting = await states(pool)

    await run()

    assert waiting == {"claimed": 6, "queued": 4}
    assert await states(pool) == {"delivered": 10}
    assert sorted(times for _, times in await calls(pool)) == [1] * 10


@pytest.mark.parametrize(("is_encoded", "folds", "credits"), [(True, False, 1), (False, False, 3), (True, True, 1)])
async def test_a_campaign_encodes_as_it_says_itself_and_keeps_the_text_as_it_was_written(
    send: Make, run: Run, pool: Pool, add: Any, *, is_encoded: bool, folds: bool, credits: int
) -> None:
    await ACCOUNTS.change(pool, smart_encoding=not is_encoded, fold_accents=folds)
    await add("+12025550143")
    written = "A" * 158 + ("á’" if folds else "’A")
    sent = "A" * 158 + ("a'" if folds else "'A")

    await send(body=written, is_smart_encoded=is_encoded)
    await run()

    kept = (sent, written) if is_encoded else (written, None)
    assert await MESSAGES.read(pool, "body", "original_body", "credits") == [(*kept, credits)]
    assert await CAMPAIGN_RECIPIENTS.read(pool, "body", "original_body", "credits") == [("", None, credits)]


async def test_a_contact_that_has_got_all_texts_of_a_cap_is_suppressed_and_costs_nothing(
    pool: Pool, add: Add, send: Make, run: Run
) -> None:
    await ACCOUNTS.change(pool, weekly_cap=1)
    await add("+12025550140", first_name="Ann")
    await send()
    await run()
    await add("+12025550141", first_name="Ben")

    again = await send()
    await run()

    of_campaign = CAMPAIGN_RECIPIENTS.where(campaign_id=again.id)
    assert await of_campaign.read(pool, "phone", "state", "reason", "credits") == [
        ("+12025550140", "suppressed", "frequency_cap", 0),
        ("+12025550141", "delivered", "", 1),
    ]
    assert await CAMPAIGNS.read(pool, "status") == ["completed", "completed"]
    assert sorted(await OUTBOUND.read(pool, "to_number")) == ["+12025550140", "+12025550141"]
    assert await balance_of(pool) == 998
    await audit(pool)
    await audit_counts(pool)


async def test_a_campaign_whose_texts_wait_for_the_morning_is_seldom_looked_at(
    services: Services, pool: Pool, add: Add, send: Make, runner: CampaignRunner
) -> None:
    await obey_the_law(pool)
    await add("+12133734250")
    await send()
    clock = At(datetime(2030, 1, 15, 14, tzinfo=UTC))  # 6:00 in California
    acceptor = SendAcceptor(pool, clock, services.notify, services.connections)
    worker = replace(runner, acceptor=acceptor, clock=clock)

    for _ in range(3):
        await worker.run()

    assert await CAMPAIGN_RECIPIENTS.read(pool, "state", "reason") == [("claimed", "deferred")]
    assert await CAMPAIGNS.only(pool, "due_at") == clock.instant + DEFERRED_LOOK
    assert not await worker.due()
