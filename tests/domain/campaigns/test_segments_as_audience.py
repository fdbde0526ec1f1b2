"""Segments as audiences of campaigns: read at the start, and kept until then."""

from collections.abc import Awaitable, Callable

import pytest

from app.db.engine import Pool
from app.domain.agents import service as agents
from app.domain.campaigns import segment_uses, service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.errors import PreviewOutdated
from app.domain.campaigns.service import Order
from app.domain.contacts.models import PipelineStage
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.segments import queries
from app.domain.segments import service as segments
from app.services import Services
from tests.domain.campaigns.conftest import NOW, Accept, Act, Make, Run, preview_of
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS, audit_counts, reasons, states
from tests.factories.segments import SEGMENTS
from tests.factories.tables import ahead

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]

VIP = {"field": "tags", "op": "has_any", "value": ["vip"]}
NEW = {"field": "created_at", "op": "within_last", "value": ["1 day"]}


@pytest.fixture
async def segment_id(act: Act) -> int:
    async with act() as unit:
        return (await segments.create(unit, "Best", {"all": [VIP, NEW]})).id


async def phones(pool: Pool) -> list[str]:
    return sorted(await CAMPAIGN_RECIPIENTS.read(pool, "phone"))


async def test_a_campaign_reaches_the_contacts_of_its_segment_that_may_be_texted(
    services: Services, act: Act, add: Add, make: Make, run: Run, segment_id: int
) -> None:
    await add("+12025550140", tags=["vip"])
    await add("+12025550141", tags=["vip"], status="opted_out")
    await add("+12025550142", tags=["other"])
    campaign = await make(audience=Audience(segment_id=segment_id))

    preview = await preview_of(services, act, campaign.id)
    assert (preview.audience, preview.recipients, preview.excluded) == (2, 1, {"opted_out": 1})
    async with act() as unit:
        await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=preview.preview_id))
    await run()

    pool = services.database.pool
    assert await states(pool) == {"delivered": 1, "suppressed": 1}
    assert await reasons(pool) == {"+12025550141": "opted_out"}
    assert await phones(pool) == ["+12025550140", "+12025550141"]
    await audit_counts(pool)


async def test_a_segment_narrows_the_other_conditions(
    pool: Pool, add: Add, send: Make, run: Run, segment_id: int
) -> None:
    ids = [await add(f"+1202555014{number}", tags=["vip"], pipeline_stage="won") for number in range(3)]
    await add("+12025550144", tags=["vip"])
    await add("+12025550145", pipeline_stage="won")

    await send(audience=Audience(stage=PipelineStage.won, contact_ids=ids[:2], segment_id=segment_id))
    await run()

    assert await phones(pool) == ["+12025550140", "+12025550141"]


async def test_the_filter_is_frozen_when_the_campaign_starts(
    pool: Pool, act: Act, add: Add, send: Make, accept: Accept, segment_id: int
) -> None:
    await add("+12025550140", tags=["vip"])
    await add("+12025550141", tags=["other"])

    await send(audience=Audience(segment_id=segment_id))
    async with act() as unit:
        await segments.update(unit, segment_id, {"filter": {"field": "tags", "op": "has_any", "value": ["other"]}})
        await segment_uses.delete(unit, segment_id)
    await accept(1)

    assert await phones(pool) == ["+12025550140"]


async def test_a_preview_of_a_segment_that_was_changed_since_is_outdated(
    services: Services, act: Act, add: Add, make: Make, segment_id: int
) -> None:
    await add("+12025550140", tags=["vip"])
    campaign = await make(audience=Audience(segment_id=segment_id))
    preview = await preview_of(services, act, campaign.id)

    async with act() as unit:
        await segments.update(unit, segment_id, {"filter": NEW})
        with pytest.raises(PreviewOutdated, match="its text, number or audience is another"):
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=preview.preview_id))
        assert (await service.queries.get(unit, campaign.id)).status == "draft"


async def test_a_preview_of_a_segment_that_has_grown_since_is_outdated(
    services: Services, act: Act, add: Add, make: Make, segment_id: int
) -> None:
    await add("+12025550140", tags=["vip"])
    campaign = await make(audience=Audience(segment_id=segment_id))
    preview = await preview_of(services, act, campaign.id)
    await add("+12025550141", tags=["vip"])

    async with act() as unit:
        with pytest.raises(PreviewOutdated, match="it would reach 2"):
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=preview.preview_id))


async def test_a_segment_that_an_ai_agent_answers_is_not_deleted(services: Services, act: Act, segment_id: int) -> None:
    async with act() as unit:
        agent = await agents.create(unit, {"name": "Robin", "instructions": "Be brief.", "segment_id": segment_id})

    async with act() as unit:
        with pytest.raises(Conflict) as refused:
            await segment_uses.delete(unit, segment_id)
    assert str(refused.value) == (
        f"Only the contacts of the segment Best are answered by AI agents: Robin (id {agent.id}). "
        "Give them another segment, or none, first."
    )
    assert await SEGMENTS.count(services) == 1

    async with act() as unit:
        await agents.update(unit, agent.id, {"segment_id": None})
        await segment_uses.delete(unit, segment_id)
    assert await SEGMENTS.count(services) == 0


async def test_a_segment_that_a_draft_or_a_scheduled_campaign_reaches_is_not_deleted(
    services: Services, act: Act, add: Add, make: Make, segment_id: int
) -> None:
    await add("+12025550140", tags=["vip"])
    first = await make(audience=Audience(segment_id=segment_id))
    second = await make(name="Winter", audience=Audience(segment_id=segment_id))
    async with act() as unit:
        await service.send(unit, second.id, Order(consent_attested=True, at=ahead(hours=1)))

    async with act() as unit:
        with pytest.raises(Conflict) as refused:
            await segment_uses.delete(unit, segment_id)
    assert str(refused.value) == (
        "The segment Best is the audience of campaigns that were not sent: "
        f"Sale (id {first.id}), Winter (id {second.id})."
    )
    assert await SEGMENTS.count(services) == 1

    async with act() as unit:
        await service.update(unit, first.id, {"audience": Audience(everyone=True)})
        await service.cancel(unit, second.id)
        await segment_uses.delete(unit, segment_id)
    assert await SEGMENTS.count(services) == 0


async def test_a_campaign_cannot_reach_a_segment_that_is_not_there_or_everyone_beside_it(
    act: Act, make: Make, segment_id: int
) -> None:
    with pytest.raises(NotFound, match="No segment with id"):
        await make(audience=Audience(segment_id=segment_id + 1))
    with pytest.raises(InvalidInput, match="everyone cannot be combined"):
        await make(audience=Audience(everyone=True, segment_id=segment_id))


async def test_a_segment_is_an_audience_that_was_chosen(act: Act, add: Add, make: Make, segment_id: int) -> None:
    await add("+12025550140", tags=["vip"])
    campaign = await make(audience=Audience(segment_id=segment_id))

    async with act() as unit:
        sent = await service.send(unit, campaign.id, NOW)
        assert sent.status == "sending"
        assert sent.audience["filter"] == (await queries.get(unit, segment_id)).filter
