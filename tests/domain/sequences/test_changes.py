"""Changing sequences: versions of steps, exits, windows, and who may begin again."""

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing import service as billing
from app.domain.contacts import service as contacts
from app.domain.contacts.models import PipelineStage
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.sequences import counts, enrollments, following, queries, service
from app.domain.sequences.counts import StepCounts
from app.domain.sequences.definition import Exits, NewStep, SendWindow, SequenceFields
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.domain.sequences.conftest import ANN, TWO, after, bodies, standing
from tests.domain.sequences.test_steps import interrupted
from tests.factories.contacts import CONTACTS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCES

STAYS = NewStep(60, "Still there, {first_name}?", key=2)
"""The second step of the usual sequence with another text."""


@pytest.fixture
def change(act: Callable[..., Any]) -> Callable[..., Any]:
    """Provide a function that changes a sequence."""

    async def change(id: int, fields: SequenceFields, **how: Any) -> Any:
        async with act() as unit:
            return await service.change(unit, id, fields, **how)

    return change


async def shape(act: Callable[..., Any], id: int) -> list[tuple[int, int, str]]:
    """Return the position, key and text of each present step."""
    async with act() as unit:
        return [(step.position, step.key, step.body) for step in await queries.find_steps(unit, [id])]


async def test_a_contact_under_way_finishes_the_version_it_began_and_the_next_one_gets_the_new(
    make: Any, enroll: Any, change: Any, act: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)
    await drip.run()
    changed = await change(id, {"steps": [NewStep(0, "Hello"), STAYS]})
    async with act() as unit:
        other = await contacts.create(unit, {"phone": "+12025550199"})
    await enroll(id, other.id)

    await drip.run()
    await after(drip, minutes=61).run()

    assert (changed.version, changed.steps_version) == (2, 2)
    assert await shape(act, id) == [(1, 3, "Hello"), (2, 2, STAYS.body)]
    assert await bodies(pool) == ["Welcome, Ann!", "Hello", "How do you like it?", "Still there?"]


async def test_a_contact_that_moves_goes_on_with_the_step_of_the_same_key_at_the_same_time(
    make: Any, enroll: Any, change: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)
    await drip.run()
    due_at = await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at")

    await change(id, {"steps": [NewStep(0, "Hello"), NewStep(5, "New"), STAYS]}, migrate=True)
    moved = await SEQUENCE_ENROLLMENTS.read(pool, "steps_version", "position", "next_send_at")
    await after(drip, minutes=61).run()

    assert moved == [(2, 3, due_at)]
    assert await bodies(pool) == ["Welcome, Ann!", "Still there, Ann?"]
    assert await standing(pool) == [("finishing", "", 4)]


async def test_a_contact_whose_next_step_is_gone_finishes_its_version_though_others_move(
    make: Any, enroll: Any, change: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)
    await drip.run()

    await change(id, {"steps": [NewStep(0, "Welcome, {first_name}!", key=1)]}, migrate=True)
    await change(id, {"steps": [NewStep(0, "Hello", key=1), NewStep(0, "Another third")]}, migrate=True)
    await after(drip, minutes=61).run()

    assert await bodies(pool) == ["Welcome, Ann!", "How do you like it?"]


async def test_the_old_text_is_not_sent_once_its_contact_has_moved(
    make: Any, enroll: Any, change: Any, services: Services, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)

    def rewrite() -> Any:
        return change(id, {"steps": [NewStep(0, "Hello", key=1), NewStep(60, "Bye", key=2)]}, migrate=True)

    await interrupted(services, drip, rewrite).run()
    before = await bodies(pool)
    await drip.run()

    assert (before, await bodies(pool)) == ([], ["Hello"])


async def test_steps_that_do_not_differ_are_no_new_version(make: Any, change: Any, act: Any) -> None:
    id = await make()

    same = await change(
        id, {"name": "Welcome", "steps": [NewStep(0, TWO[0].body, key=1), NewStep(60, TWO[1].body, key=2)]}
    )
    renamed = await change(id, {"name": "Hello"})

    assert (same.version, same.steps_version) == (1, 1)
    assert (renamed.name, renamed.version, renamed.steps_version) == ("Hello", 2, 1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": " "}, "name"),
        ({"steps": []}, "steps"),
        ({"steps": [NewStep(0, "Hi", key=3)]}, "steps[0].key"),
        ({"steps": [NewStep(0, "Hi", key=2), NewStep(0, "Hi", key=1)]}, "steps[1].key"),
        ({"steps": [NewStep(0, "Hi", key=2), NewStep(0, "Hi", key=2)]}, "steps[1].key"),
        ({"steps": [NewStep(0, "Hi {nobody}")]}, "steps[0].body"),
        ({"window": SendWindow("17:00", "09:00")}, "window.end"),
        ({"window": SendWindow("09:00", "17:00", ())}, "window.weekdays"),
        ({"window": SendWindow("nine", "17:00")}, "window.start"),
        ({"exits": Exits(tags=[f"t{number}" for number in range(21)])}, "exits.tags"),
        ({"re_enroll_after_days": 366}, "re_enroll_after_days"),
        ({"re_enroll_after_days": -1}, "re_enroll_after_days"),
    ],
)
async def test_a_change_that_is_not_valid_is_refused(
    make: Any, change: Any, act: Any, pool: Pool, fields: SequenceFields, field: str
) -> None:
    id = await make()
    before = await shape(act, id)

    with pytest.raises(InvalidInput) as refused:
        await change(id, fields)

    assert refused.value.field == field
    assert (await shape(act, id), await SEQUENCES.read(pool, "name", "version")) == (before, [("Welcome", 1)])


async def test_a_change_of_another_version_than_the_expected_one_is_refused(make: Any, change: Any, pool: Pool) -> None:
    id = await make()
    await change(id, {"name": "Hello"}, expected_version=1)

    with pytest.raises(Conflict, match="version 2, not 1"):
        await change(id, {"name": "Bye"}, expected_version=1)

    assert await SEQUENCES.read(pool, "name") == ["Hello"]


async def test_an_archived_sequence_does_not_change(make: Any, change: Any, act: Any, pool: Pool) -> None:
    id = await make()
    async with act() as unit:
        await service.update_status(unit, id, SequenceStatus.archived)

    with pytest.raises(Conflict, match="archived"):
        await change(id, {"name": "Hello"})

    assert await SEQUENCES.read(pool, "name") == ["Welcome"]


async def test_a_sequence_without_exit_on_reply_ends_an_enrollment_on_opt_out_only(
    *, make: Any, enroll: Any, change: Any, text: Any, dispatch: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await change(id, {"exits": Exits(on_reply=False)})
    await enroll(id)
    await text("Who is this?")
    await dispatch()
    await drip.run()
    replied = await standing(pool), await bodies(pool)

    await text("STOP")
    await dispatch()

    assert replied == ([("active", "", 2)], ["Welcome, Ann!"])
    assert await standing(pool) == [("exited", "contact_opted_out", 2)]


@pytest.mark.parametrize("is_dispatched", [True, False])
@pytest.mark.parametrize(
    ("fields", "reason"), [({"pipeline_stage": PipelineStage.won}, "contact_stage"), ({"tags": ["vip"]}, "contact_tag")]
)
async def test_a_stage_or_tag_ends_an_enrollment_whether_or_not_that_was_dispatched(
    *,
    make: Any,
    enroll: Any,
    change: Any,
    act: Any,
    dispatch: Any,
    drip: Drip,
    pool: Pool,
    contact_id: int,
    fields: Any,
    reason: str,
    is_dispatched: bool,
) -> None:
    exiting, staying = await make(), await make(name="Other")
    await change(exiting, {"exits": Exits(stages=[PipelineStage.won], tags=["vip"])})
    await change(staying, {"exits": Exits(stages=[PipelineStage.lost], tags=["other"])})
    await enroll(exiting)
    await enroll(staying)
    async with act() as unit:
        await contacts.update(unit, contact_id, fields)

    if is_dispatched:
        await dispatch()
    ended_early = await standing(pool)
    await drip.run()

    assert ended_early[0] == (("exited", reason, 1) if is_dispatched else ("active", "", 1))
    assert await standing(pool) == [("exited", reason, 1), ("active", "", 2)]
    assert await bodies(pool) == ["Welcome, Ann!"]


async def test_a_contact_with_an_exit_tag_or_in_an_exit_stage_is_not_enrolled(
    make: Any, enroll: Any, change: Any, pool: Pool
) -> None:
    id = await make()
    await change(id, {"exits": Exits(stages=[PipelineStage.won], tags=["vip"])})

    await CONTACTS.change(pool, tags=["vip"])
    with pytest.raises(Conflict, match="the tag vip"):
        await enroll(id)
    await CONTACTS.change(pool, tags=[], pipeline_stage="won")
    with pytest.raises(Conflict, match="the stage won"):
        await enroll(id)

    assert await standing(pool) == []


async def test_a_contact_begins_again_when_the_sequence_says_so(
    make: Any, enroll: Any, change: Any, act: Any, pool: Pool
) -> None:
    id = await make()
    first = await enroll(id)
    async with act() as unit:
        await enrollments.unenroll(unit, first.enrollment_id)

    await change(id, {"re_enroll_after_days": None})
    with pytest.raises(Conflict, match="takes a contact once"):
        await enroll(id)
    await change(id, {"re_enroll_after_days": 7})
    with pytest.raises(Conflict, match="7 days after the end"):
        await enroll(id)
    await SEQUENCE_ENROLLMENTS.change(pool, ended_at=datetime.now(UTC) - timedelta(days=7))

    assert (await enroll(id)).already is False


async def test_a_contact_that_left_by_an_opt_out_does_not_begin_again(
    make: Any, enroll: Any, text: Any, dispatch: Any, pool: Pool
) -> None:
    id, other = await make(), await make(name="Other")
    await enroll(id)
    await text("STOP")
    await dispatch()
    await text("START")

    with pytest.raises(Conflict, match="by an opt-out"):
        await enroll(id)

    assert (await enroll(other)).already is False
    assert await standing(pool) == [("exited", "contact_opted_out", 1), ("active", "", 1)]


async def test_a_step_that_is_refused_for_a_day_is_skipped_where_the_sequence_says_so(
    act: Any, make: Any, enroll: Any, change: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await change(id, {"skips_refused": True})
    async with act() as unit:
        await billing.grant(unit, -1000, "Spent")
    await enroll(id)
    for hours in (0, 1.1, 7.2, 24.5):
        await after(drip, hours=hours).run()
    skipped = await standing(pool)
    async with act() as unit:
        await billing.grant(unit, 10, "Paid")
    await after(drip, days=2).run()

    assert skipped == [("active", "", 2)]
    assert await bodies(pool) == ["How do you like it?"]


async def test_counts_are_those_of_every_version(
    make: Any, enroll: Any, change: Any, act: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll(id)
    await drip.run()
    await change(id, {"steps": [NewStep(0, "Hello", key=1), NewStep(60, "Bye", key=2)]})
    async with act() as unit:
        people = [await contacts.create(unit, ANN | {"phone": f"+1202555019{number}"}) for number in range(3)]
    rows = [await enroll(id, each.id) for each in people]
    async with act() as unit:
        await enrollments.unenroll(unit, rows[0].enrollment_id)
        await enrollments.pause(unit, rows[1].enrollment_id)
    await drip.run()

    async with act() as unit:
        found = (await counts.find_many(unit, [id]))[id]
        steps = await counts.find_of_steps(unit, [(id, 1), (id, 2)])

    assert found.by_status == {"active": 3, "exited": 1}
    assert (found.paused, found.by_exit_reason, found.under_way) == (1, {"removed": 1}, {1: 1, 2: 2})
    assert steps == {(id, 1): StepCounts(1, 2), (id, 2): StepCounts(2, 0)}


@pytest.fixture
def in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "BATCH", 2)


async def enroll_many(act: Any, enroll: Any, sequence_id: int, count: int) -> None:
    for number in range(count):
        async with act() as unit:
            person = await contacts.create(unit, {"phone": f"+1202555020{number}", "first_name": f"P{number}"})
        await enroll(sequence_id, person.id)


async def versions(pool: Pool) -> list[int]:
    rows = await SEQUENCE_ENROLLMENTS.read(pool, "id", "steps_version")
    return [row["steps_version"] for row in sorted(rows)]


@pytest.mark.usefixtures("in_pairs")
async def test_many_contacts_move_part_by_part_and_none_gets_an_old_text_meanwhile(
    make: Any, enroll: Any, change: Any, act: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll_many(act, enroll, id, 5)

    await change(id, {"steps": [NewStep(0, "Hello {first_name}", key=1)]}, migrate=True)
    moved_at_once = await versions(pool)
    more = [await drip.run()]
    halfway = await versions(pool), await bodies(pool)
    more += [await drip.run() for _ in range(2)]

    assert moved_at_once == [1, 1, 1, 2, 2]
    assert halfway == ([1, 2, 2, 2, 2], [])
    assert more == [True, True, False]
    assert await bodies(pool) == [f"Hello P{number}" for number in range(5)]


@pytest.mark.usefixtures("in_pairs")
async def test_the_contacts_of_a_sequence_move_beside_those_of_a_larger_one(
    make: Any, enroll: Any, change: Any, act: Any, drip: Drip, pool: Pool
) -> None:
    larger, smaller = await make(), await make(name="Trial")
    await enroll_many(act, enroll, larger, 7)
    for contact_id in (await CONTACTS.read(pool, "id"))[:3]:
        await enroll(smaller, contact_id)
    for id in (larger, smaller):
        await change(id, {"steps": [NewStep(0, "Hello {first_name}", key=1)]}, migrate=True)

    await drip.run()

    assert await versions(pool) == [1, 1, 1, 2, 2, 2, 2, 2, 2, 2]


@pytest.mark.usefixtures("in_pairs")
async def test_the_contacts_of_a_large_archived_sequence_leave_in_batches_and_later_ones_stay(
    make: Any, enroll: Any, act: Any, drip: Drip, pool: Pool
) -> None:
    id = await make()
    await enroll_many(act, enroll, id, 5)

    for status in (SequenceStatus.archived, SequenceStatus.active):
        async with act() as unit:
            await service.update_status(unit, id, status)
    left_at_once = await standing(pool)
    await enroll(id)
    for _ in range(3):
        await drip.run()

    assert Counter(left_at_once) == {("exited", "sequence_archived", 1): 2, ("active", "", 1): 3}
    assert Counter(await standing(pool)) == {("exited", "sequence_archived", 1): 5, ("active", "", 2): 1}
    assert await bodies(pool) == ["Welcome, Ann!"]
