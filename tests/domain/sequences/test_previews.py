"""Previews of drip sequences for one contact."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from app.db.engine import Pool
from app.domain.consent.errors import ContactOptedOut
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.onboarding.service import Opened
from app.domain.quiet_hours.rules import EVERY_DAY
from app.domain.sequences import previews, service
from app.domain.sequences.definition import NewStep, SendWindow
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.previews import PlannedText
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.domain.sequences.conftest import bodies
from tests.factories.clocks import At
from tests.factories.quiet_hours import obey_the_law
from tests.factories.sequences import SEQUENCE_ENROLLMENTS

NIGHT, MORNING = datetime(2030, 1, 16, 2, tzinfo=UTC), datetime(2030, 1, 16, 13, tzinfo=UTC)

Preview = Callable[[int], Awaitable[list[PlannedText]]]


@pytest.fixture
def preview(act: Callable[..., Any], contact_id: int) -> Preview:
    """Provide a function that previews a sequence for the contact."""

    async def preview(id: int) -> list[PlannedText]:
        async with act() as unit:
            return await previews.preview(unit, id, contact_id)

    return preview


async def test_a_preview_has_the_texts_of_a_contact_with_their_times_and_prices_and_writes_nothing(
    make: Any, preview: Preview, act: Any, contact_id: int, pool: Pool
) -> None:
    async with act() as unit:
        await contacts.update(unit, contact_id, {"email": ""})
    id = await make(NewStep(0, "Hi {first_name} {email}, welcome “here”!"), NewStep(60, "x" * 161))

    first, second = await preview(id)

    assert (first.position, first.body, first.segments, first.credits) == (1, "Hi Ann, welcome “here”!", 1, 1)
    assert (first.encoding, first.missing) == ("UCS-2", ["email"])
    assert (second.position, second.segments, second.credits, second.missing) == (2, 2, 2, [])
    assert second.send_at - first.send_at == timedelta(minutes=60)
    assert await SEQUENCE_ENROLLMENTS.count(pool) == 0


async def test_a_preview_of_a_contact_under_way_has_the_texts_that_are_left_of_its_version(
    make: Any, enroll: Any, preview: Preview, act: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)
    await drip.run()
    async with act() as unit:
        await service.change(unit, id, {"steps": [NewStep(0, "Hello")]})

    [left] = await preview(id)

    assert await bodies(pool) == ["Welcome, Ann!"]
    assert (left.position, left.body) == (2, "How do you like it?")
    assert left.send_at == await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at")


async def test_a_preview_has_the_times_that_quiet_hours_allow(
    make: Any, services: Services, account: Opened, contact_id: int, pool: Pool
) -> None:
    await obey_the_law(pool)
    id = await make()
    actor = Actor(account.account_id, frozenset(), "key:7")

    async with open_unit(services.database.sessions, actor, At(NIGHT), services.notify) as unit:
        first, second = await previews.preview(unit, id, contact_id)

    assert MORNING <= first.send_at <= MORNING + timedelta(minutes=20)
    assert second.send_at == first.send_at + timedelta(minutes=60)


async def test_a_contact_that_cannot_be_enrolled_has_no_preview(
    make: Any, preview: Preview, act: Any, contact_id: int
) -> None:
    id, archived = await make(), await make()
    async with act() as unit:
        await service.update_status(unit, archived, SequenceStatus.archived)
        await opt_outs.record_opt_out(unit, contact_id, Evidence("mail", "Stop."))

    with pytest.raises(ContactOptedOut):
        await preview(id)
    with pytest.raises(Conflict, match="is archived and takes no contacts"):
        await preview(archived)


async def test_steps_that_are_not_saved_are_previewed_with_the_times_of_their_window(
    act: Any, contact_id: int, pool: Pool
) -> None:
    steps = [NewStep(0, "Hi {first_name}", key=9), NewStep(0, "x" * 161, 2, "10:00")]

    async with act() as unit:
        first, second = await previews.preview_draft(unit, steps, SendWindow("09:30", "17:00", EVERY_DAY), contact_id)

    zone = ZoneInfo("America/New_York")
    assert (first.body, first.segments, second.segments, second.credits) == ("Hi Ann", 1, 2, 2)
    assert time(9, 30) <= first.send_at.astimezone(zone).time() < time(17)
    assert second.send_at.astimezone(zone).date() >= first.send_at.astimezone(zone).date() + timedelta(days=2)
    assert time(10) <= second.send_at.astimezone(zone).time() < time(10, 20)
    assert await SEQUENCE_ENROLLMENTS.count(pool) == 0


async def test_a_draft_that_could_not_be_saved_has_no_preview(act: Any, contact_id: int) -> None:
    async with act() as unit:
        with pytest.raises(InvalidInput) as refused:
            await previews.preview_draft(unit, [NewStep(0, "Hi {first_nam}")], None, contact_id)
        assert refused.value.field == "steps[0].body"
        with pytest.raises(NotFound):
            await previews.preview_draft(unit, [NewStep(0, "Hi")], None, 1 << 40)
