"""Custom fields: what may be declared, which values they take, and finding contacts by them."""

from collections.abc import Callable
from typing import Any

import pytest

from app.domain.accounts import queries as accounts
from app.domain.contacts import custom_fields, queries, service
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.plans import plan_when_new

PHONE = "+12025550143"
FIELDS = (
    NewField("city"),
    NewField("age", type=CustomFieldType.number),
    NewField("born", type=CustomFieldType.date),
    NewField("vip", type=CustomFieldType.boolean),
    NewField("plan", type=CustomFieldType.choice, choices=["Free", "Paid"]),
)


@pytest.fixture
async def declared(unit: UnitOfWork) -> UnitOfWork:
    """Give a unit in which a field of each type was declared."""
    for field in FIELDS:
        await custom_fields.create(unit, field)
    return unit


@pytest.mark.parametrize(
    ("key", "text", "stored"),
    [
        ("city", "  Bonn ", "Bonn"),
        ("city", "0049", "0049"),
        ("age", "12", 12),
        ("age", "-3.5", -3.5),
        ("born", "2026-02-28", "2026-02-28"),
        ("vip", "Yes", True),
        ("vip", "0", False),
        ("plan", "paid", "Paid"),
    ],
)
async def test_a_value_is_stored_in_the_type_of_its_field(
    declared: UnitOfWork, key: str, text: str, stored: object
) -> None:
    contact = await service.create(declared, {"phone": PHONE, "custom_fields": {key: text}})

    assert contact.custom_fields == {key: stored}


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("city", "x" * 501),
        ("age", "1,5"),
        ("age", "NaN"),
        ("age", "1e999"),
        ("age", "1234567890123456"),
        ("age", "١٢"),
        ("born", "2026-02-30"),
        ("born", "20260228"),
        ("vip", "perhaps"),
        ("plan", "Gold"),
        ("unknown", "x"),
    ],
)
async def test_a_value_of_another_type_is_refused_and_adds_no_contact(
    declared: UnitOfWork, key: str, text: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await service.create(declared, {"phone": PHONE, "custom_fields": {key: text}})

    assert refused.value.field == f"custom.{key}"
    assert await queries.find_by_phone(declared, PHONE) is None


async def test_only_the_named_fields_change_and_an_empty_value_removes_one(declared: UnitOfWork) -> None:
    contact = await service.create(declared, {"phone": PHONE, "custom_fields": {"city": "Bonn", "age": "1"}})

    changed = await service.update(declared, contact.id, {"custom_fields": {"city": None, "vip": "true"}})

    assert changed.custom_fields == {"age": 1, "vip": True}


@pytest.mark.parametrize(
    "new",
    [
        NewField("City"),
        NewField("1st"),
        NewField("x" * 41),
        NewField("plan", type=CustomFieldType.choice),
        NewField("plan", choices=["a"]),
        NewField("plan", "x" * 101),
        NewField("plan", type=CustomFieldType.choice, choices=["x" * 65]),
    ],
)
async def test_a_malformed_field_is_refused(unit: UnitOfWork, new: NewField) -> None:
    with pytest.raises(InvalidInput):
        await custom_fields.create(unit, new)

    assert await custom_fields.list_all(unit) == []


async def test_a_key_is_declared_once_and_fifty_fields_at_most(unit: UnitOfWork) -> None:
    for number in range(50):
        await custom_fields.create(unit, NewField(f"f{number}"))

    for key in ("f1", "another"):
        with pytest.raises(Conflict):
            await custom_fields.create(unit, NewField(key))


async def test_fields_and_values_are_of_one_account(unit_for: UnitFor, new_account: Callable[..., Any]) -> None:
    account, other_account = await new_account(), await new_account()
    async with unit_for(account) as unit:
        field = await custom_fields.create(unit, NewField("city"))

    async with unit_for(other_account) as unit:
        assert await custom_fields.list_all(unit) == []
        with pytest.raises(NotFound):
            await custom_fields.update(unit, field.id, "Stolen", None)
        with pytest.raises(InvalidInput):
            await service.create(unit, {"phone": PHONE, "custom_fields": {"city": "Bonn"}})


async def test_contacts_are_found_by_their_values_and_by_their_assignee(declared: UnitOfWork, account: Opened) -> None:
    phones = ["+12025550143", "+12025550144", "+12025550145"]
    for phone, city in zip(phones, ("Bonn", "Bonn", "Ulm"), strict=True):
        await service.create(declared, {"phone": phone, "custom_fields": {"city": city, "age": "7"}})
    wanted: list[tuple[Any, list[str]]] = [
        ({"custom": {"city": "Bonn"}}, phones[1::-1]),
        ({"custom": {"city": "Bonn", "age": "7"}}, phones[1::-1]),
        ({"custom": {"age": "8"}}, []),
        ({"assignee_id": 12345}, []),
    ]

    for filter, expected in wanted:
        page = await queries.find_page(declared, ContactFilter(**filter), ContactSort.date_added, Window(10))
        assert [contact.phone for contact in page.nodes] == expected
        assert (await page.total()).count == len(expected)


async def test_a_search_by_value_reads_an_index(services: Services) -> None:
    found = "SELECT id FROM contacts WHERE custom_fields <> '{}' AND custom_fields @> $1::jsonb"

    assert "ix_contacts_custom" in await plan_when_new(services.database.pool, CONTACTS, found, {"city": "Bonn"})


async def test_a_contact_is_assigned_to_users_of_its_own_account_only(
    unit_for: UnitFor, new_account: Callable[..., Any]
) -> None:
    account, other_account = await new_account(), await new_account()
    async with unit_for(other_account) as unit:
        [stranger] = await accounts.list_users(unit)

    async with unit_for(account) as unit:
        [user] = await accounts.list_users(unit)
        contact = await service.create(unit, {"phone": PHONE})
        assert (await service.assign(unit, contact.id, user.id)).assignee_id == user.id
        with pytest.raises(NotFound):
            await service.assign(unit, contact.id, stranger.id)
        assert (await service.assign(unit, contact.id, None)).assignee_id is None
