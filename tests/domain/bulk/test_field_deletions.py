"""Deletion of custom fields: refused while used, otherwise with all values, in chunks."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.automations import service as automations
from app.domain.automations import watching
from app.domain.bulk import deletions, field_deletions, selection
from app.domain.bulk.selection import Selection
from app.domain.campaigns import service as campaigns
from app.domain.campaigns.audience import Audience
from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.contacts.queries import ContactFilter
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob
from app.domain.jobs.service import record
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import service as segments
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.templates import service as templates

TEXT = "Your size: {custom.size|unknown}"
FILTER = {"field": "custom.size", "op": "eq", "value": "S"}
EVENT = {"kind": "event", "event": "new_contact"}
SEND = {"kind": "send", "body": TEXT}

Use = Callable[[UnitOfWork], Awaitable[Any]]


async def _declare(unit: UnitOfWork, type: CustomFieldType = CustomFieldType.text) -> int:
    return (await custom_fields.create(unit, NewField("size", type=type))).id


async def _run(unit: UnitOfWork, job: Any) -> list[int]:
    """Advance a job to its end; return the number of contacts of each chunk."""
    chunks = list[int]()
    while job.status in ("waiting", "running"):
        progress = await field_deletions.advance(unit, job)
        chunks.append(progress.changed)
        await record(unit, job, progress)
    return chunks


async def test_a_deleted_field_and_its_values_are_gone_and_its_key_is_free(
    unit: UnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_deletions, "CHUNK", 2)
    id = await _declare(unit)
    await custom_fields.create(unit, NewField("city"))
    people = [
        await contacts.create(unit, {"phone": f"+1202555014{last}", "custom_fields": {"size": "S", "city": "Bonn"}})
        for last in range(5)
    ]

    job = await field_deletions.delete(unit, id)
    with pytest.raises(Conflict, match="being deleted"):
        await _declare(unit)
    with pytest.raises(NotFound):
        await custom_fields.update(unit, id, "Size", None)
    assert [each.key for each in await custom_fields.list_all(unit)] == ["city"]

    assert await _run(unit, job) == [2, 2, 1, 0]
    for each in people:
        await unit.session.refresh(each)
        assert each.custom_fields == {"city": "Bonn"}
    assert (job.status, job.changed) == ("done", 5)
    await _declare(unit, CustomFieldType.number)


@pytest.mark.parametrize(
    ("use", "named"),
    [
        (lambda unit: segments.create(unit, "Small", FILTER), "the segment Small"),
        (lambda unit: templates.create(unit, "Sizes", TEXT), "the template Sizes"),
        (lambda unit: sequences.create(unit, "Drip", [NewStep(60, TEXT)]), "step 1 of the sequence Drip"),
        (
            lambda unit: campaigns.create(unit, {"name": "Sale", "body": TEXT, "audience": Audience(tags=["a"])}),
            "the campaign Sale",
        ),
        (
            lambda unit: automations.create(unit, {"name": "Hi", "trigger": EVENT, "actions": [SEND]}),
            "the automation Hi",
        ),
        (
            lambda unit: automations.create(
                unit, {"name": "If", "trigger": EVENT, "filter": FILTER, "actions": [{"kind": "exit_drips"}]}
            ),
            "the automation If",
        ),
        (lambda unit: watching.watch(unit, "size", {"reply": TEXT}), "the keyword size"),
    ],
)
async def test_a_field_in_use_is_refused_with_its_use_and_nothing_changes(
    unit: UnitOfWork, use: Use, named: str
) -> None:
    id = await _declare(unit)
    person = await contacts.create(unit, {"phone": "+12025550143", "custom_fields": {"size": "S"}})
    unit.actor = replace(unit.actor, scopes=ALL)
    await use(unit)

    with pytest.raises(Conflict, match=named):
        await field_deletions.delete(unit, id)

    assert [each.key for each in await custom_fields.list_all(unit)] == ["size"]
    assert person.custom_fields == {"size": "S"}


async def _delete_by_filter(unit: UnitOfWork) -> AccountJob:
    return await deletions.delete(unit, Selection(filter=ContactFilter(custom={"size": "S"})))


async def _delete_by_segment(unit: UnitOfWork) -> AccountJob:
    """Create a job whose segment is deleted before it begins, which does not concern the job."""
    segment = await segments.create(unit, "Not small", {**FILTER, "op": "ne"})
    job = await deletions.delete(unit, Selection(segment=await selection.freeze(unit, segment.id)))
    await segments.delete(unit, segment)
    return job


@pytest.mark.parametrize("begin", [_delete_by_filter, _delete_by_segment])
async def test_a_field_by_which_a_job_chooses_its_contacts_is_kept_until_the_job_has_ended(
    unit: UnitOfWork, begin: Callable[[UnitOfWork], Awaitable[AccountJob]]
) -> None:
    id = await _declare(unit)
    job = await begin(unit)

    with pytest.raises(Conflict, match=f"used by the job {job.id}. Remove it there first"):
        await field_deletions.delete(unit, id)

    await jobs.cancel(unit, job.id)
    await field_deletions.delete(unit, id)


async def test_a_second_deletion_of_a_field_leaves_the_values_of_a_new_field_with_its_key(unit: UnitOfWork) -> None:
    id = await _declare(unit)
    person = await contacts.create(unit, {"phone": "+12025550143", "custom_fields": {"size": "S"}})
    first, second = await field_deletions.delete(unit, id), await field_deletions.delete(unit, id)
    await _run(unit, first)
    await _declare(unit)
    await contacts.update(unit, person.id, {"custom_fields": {"size": "XL"}})

    await _run(unit, second)

    await unit.session.refresh(person)
    assert person.custom_fields == {"size": "XL"}
    assert [each.key for each in await custom_fields.list_all(unit)] == ["size"]
    assert (second.status, second.changed) == ("done", 0)


async def test_a_key_whose_deletion_was_canceled_is_free_after_the_field_that_the_error_names_is_deleted_again(
    unit: UnitOfWork,
) -> None:
    id = await _declare(unit)
    await jobs.cancel(unit, (await field_deletions.delete(unit, id)).id)

    with pytest.raises(Conflict, match=f"If that was canceled, delete the field {id} again"):
        await _declare(unit)
    await _run(unit, await field_deletions.delete(unit, id))

    assert await _declare(unit) != id
