"""Changing contacts."""

import asyncio
from typing import Any

import pytest

from app.domain.consent import queries as consents
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs, queries, service
from app.domain.contacts.models import Contact, ContactFields, PipelineStage
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from tests.domain.conftest import NOON, Recorded, SetClock, UnitFor
from tests.waiting import within

PHONE, OTHER_PHONE = "+12025550143", "+12025550144"
NOON_TEXT = "2026-11-21T12:00:00.000Z"
FIELDS = ("phone", "first_name", "last_name", "email", "tags", "pipeline_stage", "source", "dnd_sms")
GIVEN = ContactFields(
    phone=PHONE,
    first_name="Ann",
    last_name="Lee",
    email="ann@example.com",
    tags=["a", "b"],
    pipeline_stage=PipelineStage.qualified,
    source="fair",
    dnd_sms=True,
)


@pytest.fixture
async def contact(account: Opened, unit_for: UnitFor) -> Contact:
    """Give a contact that has everything, committed."""
    async with unit_for(account) as unit:
        return await service.create(unit, GIVEN)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"phone": OTHER_PHONE},
        {"first_name": "Bob"},
        {"last_name": "Ray"},
        {"email": "bob@example.com"},
        {"tags": ["c"]},
        {"pipeline_stage": PipelineStage.won},
        {"source": "web"},
        {"dnd_sms": False},
    ],
)
async def test_only_the_given_field_is_changed(unit: UnitOfWork, contact: Contact, change: Any) -> None:
    updated = await service.update(unit, contact.id, change)

    assert {name: getattr(updated, name) for name in FIELDS} == {**GIVEN, **change}


async def test_null_empties_a_field(unit: UnitOfWork, contact: Contact) -> None:
    nothing = ContactFields(
        first_name=None, last_name=None, email=None, tags=None, pipeline_stage=None, source=None, dnd_sms=None
    )

    updated = await service.update(unit, contact.id, nothing)

    assert [getattr(updated, name) for name in FIELDS] == [PHONE, "", "", "", [], "new_lead", "", False]


async def test_the_score_follows_a_change_at_once(unit: UnitOfWork, contact: Contact) -> None:
    updated = await service.update(unit, contact.id, {"pipeline_stage": PipelineStage.won, "email": None})

    assert updated.score == 75


async def test_the_clock_says_when_a_contact_was_updated(account: Opened, unit_for: UnitFor, contact: Contact) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()

        updated = await service.update(unit, contact.id, {"first_name": "Bob"})

        assert updated.updated_at == NOON
        assert updated.created_at == contact.created_at


@pytest.mark.parametrize("phone", ["", "abc"])
async def test_a_phone_can_be_changed_but_not_emptied(unit: UnitOfWork, contact: Contact, phone: str) -> None:
    with pytest.raises(InvalidPhone):
        await service.update(unit, contact.id, {"phone": phone})


async def test_a_phone_cannot_be_null(unit: UnitOfWork, contact: Contact) -> None:
    with pytest.raises(InvalidInput, match=r"^phone must not be null. Leave it out to keep the present value.$"):
        await service.update(unit, contact.id, {"phone": None})

    assert (await queries.get(unit, contact.id)).phone == PHONE


async def test_a_refused_change_changes_nothing(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    with pytest.raises(InvalidInput):
        async with unit_for(account) as unit:
            await service.update(unit, contact.id, {"first_name": "Bob", "email": "nobody"})

    async with unit_for(account) as unit:
        assert (await queries.get(unit, contact.id)).first_name == "Ann"
    assert [name for name, _ in await recorded()] == ["new_contact"]


async def test_a_phone_of_another_contact_is_a_conflict_that_names_it(unit: UnitOfWork, contact: Contact) -> None:
    other = await service.create(unit, {"phone": OTHER_PHONE})

    with pytest.raises(Conflict) as refused:
        await service.update(unit, contact.id, {"phone": OTHER_PHONE})

    assert str(refused.value) == f"A contact with {OTHER_PHONE} exists: id {other.id}."


async def test_the_own_phone_in_another_spelling_is_no_conflict(unit: UnitOfWork, contact: Contact) -> None:
    assert (await service.update(unit, contact.id, {"phone": "(202) 555-0143"})).phone == PHONE


async def test_of_two_contacts_that_move_to_one_phone_at_once_one_is_refused(
    account: Opened, unit_for: UnitFor, contact: Contact
) -> None:
    async with unit_for(account) as unit:
        other = await service.create(unit, {"phone": OTHER_PHONE})
    begun = asyncio.Barrier(2)

    async def move(id: int) -> str:
        async with unit_for(account) as unit:
            await queries.get(unit, id, lock=True)
            await within("both to begin", begun.wait())
            return (await service.update(unit, id, {"phone": "+12025550145"})).phone

    answers = await asyncio.gather(move(contact.id), move(other.id), return_exceptions=True)

    assert [answer for answer in answers if isinstance(answer, str)] == ["+12025550145"]
    [refused] = [answer for answer in answers if isinstance(answer, Conflict)]
    assert str(refused).startswith("A contact with +12025550145 exists")


async def test_a_contact_that_moves_to_a_suppressed_phone_is_opted_out(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        stopped = await service.create(unit, {"phone": OTHER_PHONE})
        await opt_outs.opt_out(unit, stopped, "STOP", "keyword", Evidence("keyword"))
        await unit.delete(stopped)
    before = await recorded()

    async with unit_for(account) as unit:
        moved = await service.update(unit, contact.id, {"phone": OTHER_PHONE})

        assert (moved.phone, moved.status, moved.score) == (OTHER_PHONE, "opted_out", 0)
    changed = "contact_changed", {"contact_id": contact.id, "actor": "test"}
    assert await recorded() == [*before, changed]


async def test_an_opt_out_stays_with_the_phone_that_a_contact_leaves(
    account: Opened, unit_for: UnitFor, contact: Contact
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.record_opt_out(unit, contact.id, Evidence("verbal", ""))

    async with unit_for(account) as unit:
        moved = await service.update(unit, contact.id, {"phone": OTHER_PHONE})
        assert moved.status == "active"

    async with unit_for(account) as unit:
        back = await service.update(unit, contact.id, {"phone": PHONE})
        assert back.status == "opted_out"


async def test_an_unclear_opt_out_stays_with_the_phone_as_an_opt_out_when_the_contact_gets_another(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.hold(unit, await queries.get(unit, contact.id, lock=True))

    async with unit_for(account) as unit:
        moved = await service.update(unit, contact.id, {"phone": OTHER_PHONE})

        assert (moved.held_until, moved.status) == (None, "active")
        [consent] = await consents.find_consents(unit, [PHONE])
        assert (consent.kind, consent.method) == ("revoked_other", "phone_changed")
        assert await consents.find_suppression(unit, OTHER_PHONE) is None

    async with unit_for(account) as unit:
        back = await service.update(unit, contact.id, {"phone": PHONE})
        assert (back.held_until, back.status) == (None, "opted_out")
    assert [name for name, _ in await recorded()] == ["new_contact", "contact_changed", "contact_changed"]


async def test_a_phone_that_was_not_held_is_left_without_an_opt_out(unit: UnitOfWork, contact: Contact) -> None:
    await service.update(unit, contact.id, {"phone": OTHER_PHONE})

    assert await consents.find_suppression(unit, PHONE) is None
    assert await consents.find_consents(unit, [PHONE]) == []


async def test_an_update_that_changes_nothing_emits_no_event(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await service.update(unit, contact.id, GIVEN)
        await service.update(unit, contact.id, {})
        await service.add_tag(unit, contact.id, "a")
        await service.remove_tag(unit, contact.id, "unknown")

    assert [name for name, _ in await recorded()] == ["new_contact"]


async def test_a_change_of_names_email_source_and_phone_is_shown_live_only(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await service.update(
            unit, contact.id, {"first_name": "B", "last_name": "", "email": "", "source": "", "phone": OTHER_PHONE}
        )

    assert [name for name, _ in await recorded()] == ["new_contact", "contact_changed"]


async def test_a_change_of_stage_is_told_with_both_stages(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        await service.update(unit, contact.id, {"pipeline_stage": PipelineStage.lost})

    event = {"old_stage": "qualified", "new_stage": "lost", "changed_at": NOON_TEXT}
    assert (await recorded())[1:] == [("pipeline_stage_changed", {**_who(contact), **event})]


@pytest.mark.parametrize("dnd", [False, None])
async def test_a_change_of_do_not_disturb_is_told(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded, dnd: bool | None
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        await service.update(unit, contact.id, {"dnd_sms": dnd})

    event = {"dnd_sms": False, "changed_at": NOON_TEXT}
    assert (await recorded())[1:] == [("contact_dnd_changed", {**_who(contact), **event})]


async def test_tags_are_told_one_by_one_with_all_that_are_left_each_time(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        await service.update(unit, contact.id, {"tags": ["c", "b", "d"]})

    who, at = _who(contact), NOON_TEXT
    assert (await recorded())[1:] == [
        ("contact_tag_removed", {**who, "tag": "a", "all_tags": ["b"], "removed_at": at}),
        ("contact_tag_added", {**who, "tag": "c", "all_tags": ["b", "c"], "added_at": at}),
        ("contact_tag_added", {**who, "tag": "d", "all_tags": ["b", "c", "d"], "added_at": at}),
    ]


async def test_events_carry_the_contact_as_it_is_after_the_update(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await service.update(unit, contact.id, {"first_name": "Bob", "pipeline_stage": PipelineStage.won})

    [_, (_, payload)] = await recorded()
    assert payload["first_name"] == "Bob"


async def test_several_changes_of_one_update_are_told_in_order(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    change = ContactFields(pipeline_stage=PipelineStage.won, dnd_sms=False, tags=["b", "c"])

    async with unit_for(account) as unit:
        await service.update(unit, contact.id, change)

    names = ["pipeline_stage_changed", "contact_dnd_changed", "contact_tag_removed", "contact_tag_added"]
    assert [name for name, _ in await recorded()] == ["new_contact", *names]


async def test_a_tag_is_added_at_the_end(unit: UnitOfWork, contact: Contact) -> None:
    assert (await service.add_tag(unit, contact.id, " c ")).tags == ["a", "b", "c"]


async def test_a_tag_is_removed_regardless_of_surrounding_blanks(unit: UnitOfWork, contact: Contact) -> None:
    assert (await service.remove_tag(unit, contact.id, " a ")).tags == ["b"]


async def test_an_empty_tag_cannot_be_added(unit: UnitOfWork, contact: Contact) -> None:
    with pytest.raises(InvalidInput, match=r"^A tag must not be empty.$"):
        await service.add_tag(unit, contact.id, " ")


async def test_of_two_tags_that_are_added_at_once_none_is_lost(
    account: Opened, unit_for: UnitFor, contact: Contact, recorded: Recorded
) -> None:
    begun = asyncio.Barrier(2)

    async def add(tag: str) -> None:
        async with unit_for(account) as unit:
            await queries.get(unit, contact.id)
            await within("both to begin", begun.wait())
            await service.add_tag(unit, contact.id, tag)

    await asyncio.gather(add("c"), add("d"))

    async with unit_for(account) as unit:
        tags = (await queries.get(unit, contact.id)).tags
    assert sorted(tags) == ["a", "b", "c", "d"]
    assert (await recorded())[-1][1]["all_tags"] == tags


def _who(contact: Contact) -> dict[str, Any]:
    names = {"first_name": "Ann", "last_name": "Lee", "email": "ann@example.com"}
    return {"contact_id": contact.id, "phone": PHONE, **names}
