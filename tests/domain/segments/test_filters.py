"""The compiled SQL of filters finds what a plain evaluation in Python finds."""

from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, example, given, settings

from app.domain.contacts import custom_fields
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.onboarding.service import Opened
from app.domain.segments import filters, previews, service
from app.services import Services
from tests.domain.conftest import SetClock
from tests.domain.segments.oracle import Person, satisfies
from tests.domain.segments.strategies import FILTERS, NOW, PEOPLE, SIZES
from tests.factories.campaigns import CAMPAIGN_RECIPIENTS
from tests.factories.contacts import CONTACTS, SUPPRESSIONS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.messages import MESSAGES
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCES

TEXT = {
    "from_number": "+12025550199",
    "to_number": "+15002000001",
    "body": "Hi",
    "segments": 1,
    "encoding": "GSM-7",
    "carrier": "sandbox",
    "actor": "user:1",
}
TWO_DAYS_OLD = [{"direction": "inbound", "status": "received", "created_at": NOW - timedelta(days=2)}]
DECLARED = {
    "city": CustomFieldType.text,
    "size": CustomFieldType.choice,
    "visits": CustomFieldType.number,
    "renewal": CustomFieldType.date,
    "member": CustomFieldType.boolean,
}
OTHERS = {
    "area",
    "custom",
    "is_held",
    "last_inbound_at",
    "last_outbound_at",
    "messages",
    "replied_to",
    "enrolled_in",
    "opted_out_at",
}
PLAIN = {
    "area": "202",
    "first_name": "Ann",
    "last_name": "",
    "email": "",
    "source": "",
    "tags": ["vip"],
    "pipeline_stage": "won",
    "status": "active",
    "custom": {},
    "dnd_sms": False,
    "is_held": False,
    "replies": 0,
    "assignee_id": None,
    "time_zone": None,
    "created_at": NOW,
    "last_inbound_at": None,
    "last_outbound_at": None,
    "messages": [],
    "replied_to": [],
    "enrolled_in": [],
    "opted_out_at": None,
}


async def clear(services: Services, account: Opened) -> None:
    """Delete all contacts with what is known of them; there are three sequences to enroll contacts in."""
    await CONTACTS.delete(services)
    await SUPPRESSIONS.delete(services)
    await CAMPAIGN_RECIPIENTS.delete(services)
    if not await SEQUENCES.count(services):
        for id in (1, 2, 3):
            await SEQUENCES.insert(services, id=id, account_id=account.account_id, name=f"Welcome {id}")


async def declare(unit: UnitOfWork) -> None:
    if not await custom_fields.list_all(unit):
        for key, type in DECLARED.items():
            choices = SIZES if type is CustomFieldType.choice else []
            await custom_fields.create(unit, NewField(key, type=type, choices=choices))


async def add(services: Services, account: Opened, place: int, given: dict[str, Any]) -> tuple[int, Person]:
    """Add a generated contact; return its id, and the values of its fields."""
    values = {name: value for name, value in given.items() if name not in OTHERS}
    phone = f"+1{given['area']}55501{place:02}"
    held_until = NOW + timedelta(hours=1) if given["is_held"] else None
    stored = {"phone": phone, "held_until": held_until, "custom_fields": given["custom"], **values}
    id = await CONTACTS.insert(services, account_id=account.account_id, **stored)
    known = {"account_id": account.account_id, "contact_id": id}
    times = {name: given[name] for name in ("last_inbound_at", "last_outbound_at")}
    if any(times.values()) or given["messages"]:
        conversation_id = await CONVERSATIONS.insert(services, **known, last_message_at=NOW, **times)
        for message in given["messages"]:
            await MESSAGES.insert(services, **known, conversation_id=conversation_id, **TEXT, **message)
    for each in given["replied_to"]:
        of = {"campaign_id": int(each), "phone": phone, "state": "delivered", "replied_at": NOW}
        await CAMPAIGN_RECIPIENTS.insert(services, **known, **of)
    for each in given["enrolled_in"]:
        await SEQUENCE_ENROLLMENTS.insert(services, **known, sequence_id=int(each), enrolled_by="user:1")
    if given["opted_out_at"]:
        of = {"phone": phone, "reason": "keyword", "created_at": given["opted_out_at"]}
        await SUPPRESSIONS.insert(services, account_id=account.account_id, **of)
    custom = {f"custom.{key}": value for key, value in given["custom"].items()}
    score = await CONTACTS.where(id=id).only(services, "score")
    return id, {**given, **custom, "phone": phone, "score": score}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(people=PEOPLE, filter=FILTERS)
@example(people=[PLAIN], filter={"none": [{"field": "email", "op": "ne", "value": ["x"]}]})
@example(
    people=[PLAIN | {"replied_to": ["1", "2"], "messages": TWO_DAYS_OLD}, PLAIN | {"replied_to": ["2"]}],
    filter={
        "all": [
            {"field": "replied_to", "op": "has_all", "value": ["1", "2"]},
            {"field": "message_count", "direction": "inbound", "within": "3 days", "op": "gte", "value": ["1"]},
        ]
    },
)
@example(people=[PLAIN], filter={"field": "first_name", "op": "eq", "value": ["' OR true --"]})
async def test_a_filter_finds_the_contacts_that_a_plain_evaluation_finds(
    services: Services, account: Opened, people: list[dict[str, Any]], filter: dict[str, Any]
) -> None:
    await clear(services, account)
    known = dict([await add(services, account, place, each) for place, each in enumerate(people)])

    async with open_unit(
        services.database.sessions, Actor(account.account_id, frozenset()), SetClock(NOW), services.notify
    ) as unit:
        await declare(unit)
        checked = await service.check(unit, filter)
        found = await previews.preview(unit, filters.load(filters.store(checked)))

    expected = {id for id, person in known.items() if satisfies(filter, person, NOW)}
    assert {contact.id for contact in found.samples} == expected
    assert (found.total_count, found.is_exact) == (len(expected), True)
    assert found.sendable_count == sum(
        person["status"] == "active" and not person["dnd_sms"] and not person["is_held"]
        for id, person in known.items()
        if id in expected
    )
    assert filters.load(filters.store(checked)) == checked
    assert await _again(services, account, filters.show(checked)) == checked


async def _again(services: Services, account: Opened, shown: dict[str, Any]) -> filters.Node:
    """Return the filter that is read from its shown form."""
    async with open_unit(
        services.database.sessions, Actor(account.account_id, frozenset()), SetClock(NOW), services.notify
    ) as unit:
        return await service.check(unit, shown)
