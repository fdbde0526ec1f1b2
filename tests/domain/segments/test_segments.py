"""Segments are checked, saved, changed, previewed and deleted."""

from datetime import UTC, datetime
from typing import Any

import pytest

from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound, QueryTimeout
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.domain.segments import checking, filters, previews, queries, sentences, service
from app.domain.segments.compiling import Compiler
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS
from tests.factories.contacts import locked_contacts
from tests.factories.segments import SEGMENTS
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCES

VIP = {"field": "tags", "op": "has_any", "value": ["vip"]}


def nested(depth: int) -> dict[str, Any]:
    return VIP if depth == 0 else {"all": [nested(depth - 1)]}


@pytest.mark.parametrize(
    ("filter", "field", "reason"),
    [
        ({}, "filter", checking.FORMS),
        ({"all": [VIP], "any": [VIP]}, "filter", checking.FORMS),
        ({"all": [VIP], "field": "tags"}, "filter", checking.FORMS),
        ({"all": [VIP], "op": "eq"}, "filter", checking.FORMS),
        ({"any": []}, "filter.any", "any must have at least one condition."),
        ({"all": [VIP, {"field": "scor"}]}, "filter.all[1].field", "scor is not a field. Did you mean score?"),
        ({"field": "score"}, "filter.op", "score takes one of these operators: eq, ne, in, not_in, gt, gte,"),
        ({"field": "score", "op": "contains", "value": ["1"]}, "filter.op", "score takes one of these operators"),
        (
            {"none": [{"field": "score", "op": "gt", "value": ["many"]}]},
            "filter.none[0].value",
            "A value of score must be a number such as 12 or -3.5, not 'many'.",
        ),
        ({"field": "score", "op": "gt"}, "filter.value", "gt takes one value."),
        ({"field": "score", "op": "gt", "value": ["1", "2"]}, "filter.value", "gt takes one value."),
        ({"field": "score", "op": "between", "value": ["1"]}, "filter.value", "between takes two values."),
        (
            {"field": "score", "op": "between", "value": ["2", "1"]},
            "filter.value",
            "The first value of between must not be greater than the second.",
        ),
        ({"field": "email", "op": "is_set", "value": ["x"]}, "filter.value", "is_set takes no value."),
        ({"field": "tags", "op": "has_any", "value": []}, "filter.value", "has_any takes 1 to 100 values."),
        ({"field": "tags", "op": "has_any", "value": ["x"] * 101}, "filter.value", "has_any takes 1 to 100 values."),
        (
            {"field": "status", "op": "eq", "value": ["gone"]},
            "filter.value",
            "A value of status must be one of active, opted_out, not 'gone'.",
        ),
        (
            {"field": "dnd_sms", "op": "eq", "value": ["maybe"]},
            "filter.value",
            "A value of dnd_sms must be true or false, not 'maybe'.",
        ),
        (
            {"field": "created_at", "op": "before", "value": ["soon"]},
            "filter.value",
            "A value of created_at must be a time such as 2026-11-21T09:30:00Z, or a date, not 'soon'.",
        ),
        (
            {"field": "created_at", "op": "within_last", "value": ["a month"]},
            "filter.value",
            "A value of created_at must be a number of minutes, hours, days or weeks, such as 30 days, not 'a month'.",
        ),
        (
            {"field": "custom.renewal", "op": "within_last", "value": ["5 hours"]},
            "filter.value",
            "A value of custom.renewal must be a number of days or weeks, such as 30 days, not '5 hours'.",
        ),
        (
            {"field": "custom.renewal", "op": "eq", "value": ["2026-02-30"]},
            "filter.value",
            "A value of custom.renewal must be a date such as 2026-11-21, not '2026-02-30'.",
        ),
        (
            {"field": "assignee_id", "op": "eq", "value": ["Ann"]},
            "filter.value",
            "A value of assignee_id must be a number, not 'Ann'.",
        ),
        (
            {"field": "first_name", "op": "eq", "value": [" "]},
            "filter.value",
            "A value of first_name must be a text of 1 to 200 characters, not ''.",
        ),
        (
            {"field": "first_name", "op": "eq", "value": ["a\0b"]},
            "filter.value",
            "A value of first_name must be a text of 1 to 200 characters, not 'a\0b'.",
        ),
        (
            {"field": "replies", "op": "gt", "value": ["1"], "within": "3 days"},
            "filter.within",
            "within says which messages are counted: replies counts none.",
        ),
        (
            {"field": "message_count", "op": "gt", "value": ["1"], "direction": "sideways"},
            "filter.direction",
            "direction must be one of outbound, inbound, not 'sideways'.",
        ),
        (
            {"field": "message_count", "op": "gt", "value": ["1"], "within": "a month"},
            "filter.within",
            "within must be a number of minutes, hours, days or weeks, such as 30 days, not 'a month'.",
        ),
        ({"all": [VIP], "within": "3 days"}, "filter", checking.FORMS),
        (
            {"field": "replied_to", "op": "has_any", "value": ["Spring"]},
            "filter.value",
            "A value of replied_to must be an id, a number, not 'Spring'.",
        ),
        ({"field": "enrolled_in", "op": "eq", "value": ["1"]}, "filter.op", "enrolled_in takes one of these operators"),
        (nested(6), "filter.all[0].all[0].all[0].all[0].all[0]", "A filter has at most 5 groups within one another."),
        ({"all": [VIP] * 51}, "filter.all[50]", "A filter has at most 50 conditions."),
    ],
)
async def test_a_filter_that_cannot_be_is_refused_with_its_place(
    unit: UnitOfWork, filter: dict[str, Any], field: str, reason: str
) -> None:
    await custom_fields.create(unit, NewField("renewal", type=CustomFieldType.date))

    with pytest.raises(InvalidInput) as refused:
        await service.create(unit, "Best", filter)

    assert (refused.value.field, str(refused.value)[: len(reason)]) == (field, reason)
    assert await queries.count_all(unit) == 0


async def test_the_deepest_and_longest_filters_are_saved(unit: UnitOfWork) -> None:
    for filter in (nested(5), {"any": [VIP] * 50}):
        segment = await service.create(unit, "Best", filter)

        assert filters.show(filters.load(segment.filter)) == filter


async def test_values_are_shown_in_one_spelling(unit: UnitOfWork) -> None:
    given = {
        "any": [
            {"field": "pipeline_stage", "op": "eq", "value": ["WON"]},
            {"field": "created_at", "op": "after", "value": ["2026-11-21T09:30:00+01:00"]},
            {"field": "created_at", "op": "within_last", "value": ["1 day"]},
            {"field": "dnd_sms", "op": "eq", "value": ["Yes"]},
        ]
    }

    segment = await service.create(unit, " Best ", given)

    assert segment.name == "Best"
    shown = filters.show(filters.load(segment.filter))["any"]
    assert [each["value"] for each in shown] == [["won"], ["2026-11-21T08:30:00.000Z"], ["1 days"], ["true"]]


async def test_a_filter_is_described_in_words(unit: UnitOfWork) -> None:
    given = {
        "all": [
            {"any": [VIP, {"field": "score", "op": "between", "value": ["40", "60"]}]},
            {"none": [{"field": "email", "op": "is_empty"}]},
            {"field": "last_inbound_at", "op": "not_within_last", "value": ["30 days"]},
            {"field": "message_count", "direction": "inbound", "within": "1 week", "op": "gte", "value": ["3"]},
            {"field": "message_count", "op": "lt", "value": ["9"]},
        ]
    }

    assert sentences.describe(await service.check(unit, given)) == (
        "(tags has any of vip or score is between 40 and 60) and not (email is empty)"
        " and last_inbound_at is not within the last 30 days"
        " and message_count (inbound, within the last 1 weeks) is at least 3 and message_count is less than 9"
    )


async def test_a_segment_is_changed_in_part(unit: UnitOfWork) -> None:
    segment = await service.create(unit, "Best", VIP)

    changed = await service.update(unit, segment.id, {"name": "Better"})
    assert (changed.name, filters.show(filters.load(changed.filter))) == ("Better", VIP)

    changed = await service.update(unit, segment.id, {"filter": {"field": "email", "op": "is_set"}})
    assert (changed.name, changed.filter["field"]) == ("Better", "email")


async def test_a_name_is_needed_and_an_unknown_segment_is_not_found(unit: UnitOfWork) -> None:
    with pytest.raises(InvalidInput, match="name must have 1 to 100 characters"):
        await service.create(unit, " ", VIP)
    with pytest.raises(NotFound, match="No segment with id 10"):
        await service.update(unit, 10, {"name": "Better"})


async def test_segments_are_listed_newest_first_and_found_by_a_part_of_their_name(unit: UnitOfWork) -> None:
    for name in ("Best", "Worst", "Best of all"):
        await service.create(unit, name, VIP)

    assert [each.name for each in (await queries.find_page(unit, None, Window())).nodes] == [
        "Best of all",
        "Worst",
        "Best",
    ]
    assert [each.name for each in (await queries.find_page(unit, "BEST", Window())).nodes] == ["Best of all", "Best"]


async def test_an_account_has_no_more_segments_than_allowed(unit: UnitOfWork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_SEGMENTS", 1)
    await service.create(unit, "Best", VIP)

    with pytest.raises(Conflict, match="at most 1 segments"):
        await service.create(unit, "Better", VIP)


async def test_a_preview_counts_the_contacts_of_its_account_only(
    new_account: Any, unit_for: UnitFor, services: Services
) -> None:
    for phone in ("+12025550101", "+12025550102"):
        account: Opened = await new_account()
        async with unit_for(account) as unit:
            await contacts.create(unit, {"phone": phone, "tags": ["vip"]})

    async with unit_for(account) as unit:
        found = await previews.preview(unit, await service.check(unit, VIP))

    assert (found.total_count, [each.phone for each in found.samples]) == (1, ["+12025550102"])


async def test_a_filter_with_the_most_ids_is_planned_like_one_with_two(account: Opened, unit_for: UnitFor) -> None:
    def all_of(count: int) -> Any:
        return {"field": "replied_to", "op": "has_all", "value": [str(id) for id in range(1, count + 1)]}

    async with unit_for(account) as unit:
        few, most = [await service.check(unit, {"all": [all_of(count)] * 5}) for count in (2, checking.MAX_VALUES)]
        assert (await previews.preview(unit, most)).total_count == 0

    assert Compiler(datetime.now(UTC)).compile(most) == Compiler(datetime.now(UTC)).compile(few)


async def test_the_ids_of_another_account_find_no_contact(
    new_account: Any, unit_for: UnitFor, services: Services
) -> None:
    other: Opened = await new_account()
    account: Opened = await new_account()
    async with unit_for(account) as unit:
        contact = await contacts.create(unit, {"phone": "+12025550101"})
    sequence_id = await SEQUENCES.insert(services, account_id=other.account_id, name="Welcome")
    known = {"account_id": other.account_id, "contact_id": contact.id}
    await SEQUENCE_ENROLLMENTS.insert(services, **known, sequence_id=sequence_id, enrolled_by="user:1")
    replied = {"campaign_id": 7, "phone": contact.phone, "state": "delivered", "replied_at": datetime.now(UTC)}
    await CAMPAIGN_RECIPIENTS.insert(services, **known, **replied)

    async with unit_for(account) as unit:
        for field, value in (("replied_to", "7"), ("enrolled_in", str(sequence_id))):
            filter = await service.check(unit, {"field": field, "op": "has_any", "value": [value]})
            assert (await previews.preview(unit, filter)).total_count == 0


async def test_a_preview_that_takes_too_long_is_given_up_and_its_unit_goes_on(
    services: Services, unit: UnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previews, "SECONDS", 0.05)
    filter = await service.check(unit, VIP)

    async with locked_contacts(services):
        with pytest.raises(QueryTimeout):
            await previews.preview(unit, filter)

    segment = await service.create(unit, "Best", VIP)
    await service.delete(unit, segment)
    assert await SEGMENTS.count(services) == 0


async def test_a_count_that_takes_too_long_becomes_an_estimate(
    unit: UnitOfWork, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        await contacts.create(unit, {"phone": f"+1202555010{number}", "tags": ["vip"], "dnd_sms": number == 0})
    answers = [None]
    real = UnitOfWork.try_within

    async def first_fails(self: UnitOfWork, *arguments: Any) -> Any:
        return answers.pop() if answers else await real(self, *arguments)

    monkeypatch.setattr(UnitOfWork, "try_within", first_fails)
    monkeypatch.setattr(previews, "ONE_IN", 1)

    found = await previews.preview(unit, await service.check(unit, VIP))

    assert (found.total_count, found.sendable_count, found.is_exact) == (4, 3, False)
    assert len(found.samples) == 4
