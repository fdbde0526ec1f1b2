"""Sends with the id of a preview: its audience is counted again before anything is locked."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.campaigns import previews, service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.errors import PreviewOutdated
from app.domain.campaigns.service import Order
from app.domain.contacts.models import PipelineStage
from app.domain.kernel.errors import InvalidInput
from app.domain.segments import service as segments
from app.domain.segments.compiling import Compiler
from app.services import Services
from tests.domain.campaigns.conftest import Act, Make, preview_of
from tests.factories.campaigns import CAMPAIGNS, add_people
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.segments import SLOW, limit_statements

pytestmark = pytest.mark.anyio

Add = Callable[..., Awaitable[int]]


async def test_the_audience_of_a_preview_is_counted_in_statements_of_a_bounded_time(
    services: Services, pool: Pool, make: Make, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "CHUNK", 2)
    await add_people(pool, 40)
    async with act() as unit:
        everyone = await segments.create(unit, "All", {"field": "phone", "op": "is_set"})
    campaign = await make(audience=Audience(segment_id=everyone.id))
    shown = await preview_of(services, act, campaign.id)

    monkeypatch.setattr(Compiler, "compile", lambda *_: SLOW)
    async with act() as unit:
        await limit_statements(unit, milliseconds=700)
        await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id))

    assert await CAMPAIGNS.only(pool, "status") == "sending"


@pytest.mark.parametrize("id", [f"{'9' * 400}-1-x", f"1-{2**64}-x", "-1-1-x", "1", "", "１-1-x"])
async def test_an_id_that_no_preview_has_is_refused(pool: Pool, make: Make, act: Act, id: str) -> None:
    campaign = await make()

    with pytest.raises(InvalidInput, match="preview_id must be that of a preview"):
        async with act() as unit:
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=id))

    assert await CAMPAIGNS.only(pool, "status") == "draft"


async def test_a_contact_that_is_added_while_the_audience_is_counted_makes_its_preview_outdated(
    services: Services, pool: Pool, make: Make, act: Act, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add("+12025550140")
    campaign = await make()
    shown = await preview_of(services, act, campaign.id)
    count = previews.count_again

    async def count_before(*given: Any) -> Any:
        counted = await count(*given)
        await add("+12025550141")
        return counted

    monkeypatch.setattr(previews, "count_again", count_before)
    with pytest.raises(PreviewOutdated, match="it would reach 2"):
        async with act() as unit:
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id))

    assert await CAMPAIGNS.only(pool, "status") == "draft"


async def test_a_preview_counts_the_contacts_of_its_audience_alone(
    services: Services, pool: Pool, make: Make, act: Act, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "CHUNK", 2)
    ids = [await add(f"+1202555014{number}", tags=["vip"], pipeline_stage="won") for number in range(5)]
    await add("+12025550146", tags=["vip"])
    await add("+12025550147", pipeline_stage="won")
    chosen = Audience(tags=["vip"], stage=PipelineStage.won, contact_ids=ids[:3])
    campaign = await make(audience=chosen)
    shown = await preview_of(services, act, campaign.id)

    async with act() as unit:
        await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id))

    assert shown.audience == 3
    assert await CAMPAIGNS.only(pool, "status") == "sending"


async def test_a_campaign_with_another_sending_number_than_in_its_preview_is_not_sent(
    services: Services, pool: Pool, add: Add, make: Make, act: Act
) -> None:
    await add("+12025550140")
    campaign = await make()
    shown = await preview_of(services, act, campaign.id)
    await CAMPAIGNS.change(pool, phone_number_id=await PHONE_NUMBERS.only(pool, "id"))

    async with act() as unit:
        with pytest.raises(PreviewOutdated):
            await service.send(unit, campaign.id, Order(consent_attested=True, preview_id=shown.preview_id))

    assert await CAMPAIGNS.only(pool, "status") == "draft"
