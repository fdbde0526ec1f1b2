"""Making sequences, enrolling contacts and taking them out."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.consent.errors import ContactOptedOut
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.contacts.errors import ContactDnd
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.messages.errors import MessageTooLong
from app.domain.sequences import enrollments, queries, service
from app.domain.sequences.definition import NewStep
from app.domain.sequences.models import Enrollment, SequenceStatus
from tests.domain.sequences.conftest import ANN, PHONE, TWO, standing
from tests.factories.contacts import CONSENTS, CONTACTS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCE_STEPS, SEQUENCES
from tests.factories.tables import ago

ONE = NewStep(0, "Hi")


async def test_a_sequence_is_made_with_its_steps_in_order(act: Callable[..., Any]) -> None:
    async with act() as unit:
        sequence = await service.create(unit, " Welcome ", TWO)
        steps = await queries.find_steps(unit, [sequence.id])

    assert (sequence.name, sequence.status) == ("Welcome", "active")
    assert [(step.position, step.delay_minutes, step.body) for step in steps] == [
        (1, 0, "Welcome, {first_name}!"),
        (2, 60, "How do you like it?"),
    ]


@pytest.mark.parametrize(
    ("name", "steps", "refusal", "sentence"),
    [
        (" ", [ONE], InvalidInput, "name must have 1 to 100 characters."),
        ("n" * 101, [ONE], InvalidInput, "name must have 1 to 100 characters."),
        ("n", [], InvalidInput, "A sequence has 1 to 50 steps."),
        ("n", [ONE] * 51, InvalidInput, "A sequence has 1 to 50 steps."),
        ("n", [NewStep(-1, "Hi")], InvalidInput, "delay_minutes must be from 0 to 525600."),
        ("n", [ONE, NewStep(525_601, "Hi")], InvalidInput, "delay_minutes must be from 0 to 525600."),
        ("n", [NewStep(0, " \n")], InvalidInput, "body must not be empty."),
        ("n", [NewStep(0, "a" * (MAX_LENGTH + 1))], MessageTooLong, "The message has 1601 characters"),
        ("n", [NewStep(0, "Hi {name}")], InvalidInput, "{name} at character 4 is not a placeholder."),
    ],
)
async def test_a_sequence_that_could_not_be_sent_is_refused(
    act: Callable[..., Any], pool: Pool, name: str, steps: list[NewStep], refusal: type[Exception], sentence: str
) -> None:
    with pytest.raises(refusal) as refused:
        async with act() as unit:
            await service.create(unit, name, steps)

    assert str(refused.value).startswith(sentence)
    assert await SEQUENCES.count(pool) == 0


async def test_enrolling_returns_the_due_time_of_the_first_step_and_records_the_attesting_actor(
    make: Callable[..., Any], enroll: Callable[..., Any], contact_id: int, pool: Pool
) -> None:
    sequence_id = await make(NewStep(90, "Hi"))
    before = datetime.now(UTC)

    enrolled = await enroll(sequence_id)

    due = timedelta(minutes=90)
    assert before + due <= enrolled.next_send_at <= datetime.now(UTC) + due
    [row] = await SEQUENCE_ENROLLMENTS.read(pool)
    assert (enrolled.enrollment_id, enrolled.contact_id, enrolled.sequence_id) == (row["id"], contact_id, sequence_id)
    assert (enrolled.sequence_name, enrolled.already) == ("Welcome", False)
    assert (row["status"], row["position"], row["enrolled_by"]) == ("active", 1, "key:7")
    [attested] = await CONSENTS.read(pool, "phone", "kind", "method", "text", "actor")
    text = "Enrolled in the drip sequence Welcome."
    assert tuple(attested) == (PHONE, "attested", "enrollment", text, "key:7")


async def test_a_contact_that_is_under_way_stays_where_it_is(
    make: Callable[..., Any], enroll: Callable[..., Any], pool: Pool
) -> None:
    sequence_id = await make()
    first = await enroll(sequence_id)

    second = await enroll(sequence_id)

    assert (second.enrollment_id, second.next_send_at) == (first.enrollment_id, first.next_send_at)
    assert (first.already, second.already) == (False, True)
    assert await CONSENTS.count(pool) == 1


async def test_of_many_that_enroll_a_contact_at_once_one_does(
    make: Callable[..., Any], enroll: Callable[..., Any], pool: Pool
) -> None:
    sequence_id = await make()

    enrolled = await asyncio.gather(*(enroll(sequence_id) for _ in range(4)))

    assert sorted(each.already for each in enrolled) == [False, True, True, True]
    assert len({each.enrollment_id for each in enrolled}) == 1
    assert await standing(pool) == [("active", "", 1)]


async def test_a_contact_whose_enrollment_has_ended_can_be_enrolled_again(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    sequence_id = await make()
    first = await enroll(sequence_id)
    async with act() as unit:
        await enrollments.unenroll(unit, first.enrollment_id)

    second = await enroll(sequence_id)

    assert second.enrollment_id != first.enrollment_id
    assert await standing(pool) == [("exited", "removed", 1), ("active", "", 1)]


async def test_ending_an_enrollment_again_changes_nothing(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    enrolled = await enroll(await make())
    rows = []
    for _ in range(2):
        async with act() as unit:
            await enrollments.unenroll(unit, enrolled.enrollment_id)
        rows.append(await SEQUENCE_ENROLLMENTS.only(pool))

    assert rows[0] == rows[1]
    assert (rows[0]["next_send_at"], rows[0]["ended_at"] is None) == (None, False)


async def test_a_contact_that_opted_out_is_not_enrolled(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], contact_id: int, pool: Pool
) -> None:
    async with act() as unit:
        await opt_outs.record_opt_out(unit, contact_id, Evidence("mail", "Stop."))

    with pytest.raises(ContactOptedOut):
        await enroll(await make())

    assert await standing(pool) == []


@pytest.mark.parametrize("reason", ["contact_opted_out", "opted_out"])
async def test_a_contact_that_left_by_an_opt_out_is_not_enrolled_again_also_where_the_carrier_reported_it(
    make: Callable[..., Any], enroll: Callable[..., Any], pool: Pool, reason: str
) -> None:
    sequence_id = await make()
    await enroll(sequence_id)
    await SEQUENCE_ENROLLMENTS.change(pool, status="exited", exit_reason=reason, ended_at=ago(days=1))

    with pytest.raises(Conflict):
        await enroll(sequence_id)

    assert await standing(pool) == [("exited", reason, 1)]


async def test_a_contact_with_do_not_disturb_is_not_enrolled(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], contact_id: int, pool: Pool
) -> None:
    async with act() as unit:
        await contacts.update(unit, contact_id, {"dnd_sms": True})

    with pytest.raises(ContactDnd):
        await enroll(await make())

    assert await standing(pool) == []


async def test_an_archived_sequence_takes_no_contact_and_has_ended_its_enrollments(
    make: Callable[..., Any], enroll: Callable[..., Any], act: Callable[..., Any], pool: Pool
) -> None:
    sequence_id = await make()
    await enroll(sequence_id)
    async with act() as unit:
        await service.update_status(unit, sequence_id, SequenceStatus.archived)

    with pytest.raises(Conflict, match="archived"):
        await enroll(sequence_id)

    assert await standing(pool) == [("exited", "sequence_archived", 1)]


async def test_a_sequence_without_steps_takes_no_contact(
    make: Callable[..., Any], enroll: Callable[..., Any], pool: Pool
) -> None:
    sequence_id = await make()
    await SEQUENCE_STEPS.delete(pool)

    with pytest.raises(Conflict, match="has no steps"):
        await enroll(sequence_id)

    assert await standing(pool) == []


async def test_a_contact_of_another_account_is_not_enrolled(
    make: Callable[..., Any],
    enroll: Callable[..., Any],
    unit_for: Callable[..., Any],
    new_account: Callable[..., Any],
    pool: Pool,
) -> None:
    async with unit_for(await new_account()) as unit:
        foreign = (await contacts.create(unit, ANN)).id
        foreign_sequence = (await service.create(unit, "Theirs", TWO)).id

    with pytest.raises(NotFound, match=f"No contact with id {foreign}"):
        await enroll(await make(), foreign)
    with pytest.raises(NotFound, match=f"No drip sequence with id {foreign_sequence}"):
        await enroll(foreign_sequence)

    assert await standing(pool) == []


async def test_a_contact_that_is_erased_is_enrolled_no_more(
    make: Callable[..., Any], enroll: Callable[..., Any], pool: Pool, contact_id: int
) -> None:
    await enroll(await make())

    await CONTACTS.where(id=contact_id).delete(pool)

    assert await standing(pool) == []


async def test_of_many_enrollments_of_a_contact_only_those_of_the_messages_are_loaded(
    make: Any, act: Any, contact_id: int, pool: Pool
) -> None:
    id, begun = await make(), datetime(2026, 1, 1, tzinfo=UTC)
    account_id = await SEQUENCES.only(pool, "account_id")
    row = {"account_id": account_id, "sequence_id": id, "contact_id": contact_id, "enrolled_by": "user:1"}
    ids = [
        await SEQUENCE_ENROLLMENTS.insert(pool, **row, status="exited", created_at=begun + timedelta(days=day))
        for day in range(5)
    ]
    asked = [(id, contact_id, begun + timedelta(days=day, hours=1)) for day in (-1, 0, 3)]

    async with act() as unit:
        found = await queries.find_enrollments_at(unit, asked)
        loaded = [each.id for each in unit.session if isinstance(each, Enrollment)]

    assert {key: each.id for key, each in found.items()} == {asked[1]: ids[0], asked[2]: ids[3]}
    assert sorted(loaded) == [ids[0], ids[3]]
