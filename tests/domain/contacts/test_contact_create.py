"""Adding contacts."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.domain.accounts.models import Account
from app.domain.contacts import queries, service
from app.domain.contacts.models import ContactFields, PipelineStage
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.events import timestamp
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.contacts import CONTACTS
from tests.waiting import within

PHONE = "+12025550143"


async def test_a_created_contact_has_the_given_fields(unit: UnitOfWork) -> None:
    given = ContactFields(
        phone=PHONE,
        first_name="Ann",
        last_name="Lee",
        email="ann@example.com",
        tags=["vip", "newsletter"],
        pipeline_stage=PipelineStage.proposal,
        source="fair",
        dnd_sms=True,
    )

    contact = await service.create(unit, given)

    assert {name: getattr(contact, name) for name in given} == given
    assert (contact.status, contact.score, contact.held_until, contact.replies) == ("active", 70, None, 0)


async def test_a_contact_that_is_given_a_phone_alone_is_a_new_lead(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": PHONE})

    assert (contact.first_name, contact.last_name, contact.email, contact.source) == ("", "", "", "")
    assert (contact.tags, contact.pipeline_stage, contact.dnd_sms, contact.score) == ([], "new_lead", False, 10)


async def test_a_null_field_is_the_same_as_an_absent_one(unit: UnitOfWork) -> None:
    nothing = ContactFields(
        phone=PHONE,
        first_name=None,
        last_name=None,
        email=None,
        tags=None,
        pipeline_stage=None,
        source=None,
        dnd_sms=None,
    )

    contact = await service.create(unit, nothing)

    assert (contact.first_name, contact.last_name, contact.email, contact.source) == ("", "", "", "")
    assert (contact.tags, contact.pipeline_stage, contact.dnd_sms) == ([], "new_lead", False)


async def test_a_new_contact_is_told_with_all_its_fields(
    account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        contact = await service.create(
            unit, {"phone": PHONE, "first_name": "Ann", "email": "ann@example.com", "tags": ["vip"], "source": "fair"}
        )

    event = {
        "id": contact.id,
        "first_name": "Ann",
        "last_name": "",
        "phone": PHONE,
        "email": "ann@example.com",
        "tags": ["vip"],
        "pipeline_stage": "new_lead",
        "source": "fair",
        "status": "active",
        "created_at": timestamp(contact.created_at),
    }
    assert await recorded() == [("new_contact", event)]


async def test_texts_are_stored_without_blanks_around_them(unit: UnitOfWork) -> None:
    contact = await service.create(
        unit,
        {
            "phone": f"  {PHONE} ",
            "first_name": " Ann ",
            "last_name": "\tLee\n",
            "email": " ann@example.com ",
            "source": " fair ",
            "tags": [" vip "],
        },
    )

    assert (contact.phone, contact.first_name, contact.last_name) == (PHONE, "Ann", "Lee")
    assert (contact.email, contact.source, contact.tags) == ("ann@example.com", "fair", ["vip"])


@pytest.mark.parametrize("name", ["first_name", "last_name", "source"])
async def test_a_name_has_at_most_100_characters(unit: UnitOfWork, name: str) -> None:
    longest: Any = {"phone": PHONE, name: f" {'é' * 100} "}
    too_long: Any = {"phone": "+12025550144", name: "é" * 101}

    contact = await service.create(unit, longest)

    assert getattr(contact, name) == "é" * 100
    with pytest.raises(InvalidInput, match=f"^{name} must have at most 100 characters.$"):
        await service.create(unit, too_long)


@pytest.mark.parametrize(
    "email",
    ["ann", "ann@", "@example.com", "ann@example", "ann@example.", "a b@example.com", "ann@@example.com", "a@b@c.de"],
)
async def test_an_email_must_look_like_an_address(unit: UnitOfWork, email: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await service.create(unit, {"phone": PHONE, "email": email})

    assert str(refused.value) == f"email must be an address such as ann@example.com, not '{email}'."
    assert await queries.find_by_phone(unit, PHONE) is None


async def test_an_email_has_at_most_254_characters(unit: UnitOfWork) -> None:
    longest = "a" * 242 + "@example.com"

    contact = await service.create(unit, {"phone": PHONE, "email": longest})

    assert contact.email == longest
    with pytest.raises(InvalidInput, match=r"^email must have at most 254 characters.$"):
        await service.create(unit, {"phone": "+12025550144", "email": "a" + longest})


async def test_a_tag_is_kept_once_and_tags_keep_their_order(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": PHONE, "tags": ["vip", "Vip", " vip", "a", "vip"]})

    assert contact.tags == ["vip", "Vip", "a"]


async def test_a_contact_has_at_most_100_tags_that_differ(unit: UnitOfWork) -> None:
    tags = [f"tag {number}" for number in range(100)]

    contact = await service.create(unit, {"phone": PHONE, "tags": [*tags, "tag 7"]})

    assert contact.tags == tags
    with pytest.raises(InvalidInput, match=r"^A contact has at most 100 tags.$"):
        await service.create(unit, {"phone": "+12025550144", "tags": [*tags, "one more"]})


async def test_a_tag_has_64_characters_at_most(unit: UnitOfWork) -> None:
    with pytest.raises(InvalidInput, match=r"^A tag must have at most 64 characters\.$"):
        await service.create(unit, {"phone": PHONE, "tags": ["vip", "a" * 65]})


async def test_a_tag_that_is_empty_is_none(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": PHONE, "tags": ["", "vip", " \t"]})

    assert contact.tags == ["vip"]


@pytest.mark.parametrize(
    ("region", "written"), [("US", "(202) 555-0143"), ("US", "202.555.0143"), ("GB", "+1 202 555 0143")]
)
async def test_a_phone_is_stored_in_e164_form(unit: UnitOfWork, region: str, written: str) -> None:
    await _set_region(unit, region)

    assert (await service.create(unit, {"phone": written})).phone == PHONE


async def test_a_national_phone_is_read_in_the_region_of_the_account(unit: UnitOfWork) -> None:
    await _set_region(unit, "GB")

    contact = await service.create(unit, {"phone": "07911 123456"})

    assert contact.phone == "+447911123456"
    assert await service.get_by_phone(unit, "0044 7911 123 456") is contact


@pytest.mark.parametrize("phone", ["", "abc", "555-2671", "12345", "+12025550143 ext. 5", "+0000000000", None])
async def test_an_invalid_phone_is_refused(unit: UnitOfWork, phone: Any) -> None:
    with pytest.raises(InvalidPhone):
        await service.create(unit, {"phone": phone})


async def test_a_contact_without_a_phone_is_refused(unit: UnitOfWork) -> None:
    with pytest.raises(InvalidInput, match=r"^phone is required.$"):
        await service.create(unit, ContactFields(first_name="Ann"))


async def test_a_phone_that_is_known_is_a_conflict_that_names_the_contact(unit: UnitOfWork) -> None:
    first = await service.create(unit, {"phone": PHONE, "first_name": "Ann"})

    with pytest.raises(Conflict) as refused:
        await service.create(unit, {"phone": "202-555-0143", "first_name": "Bob"})

    assert str(refused.value) == f"A contact with {PHONE} exists: id {first.id}."
    assert (await queries.get(unit, first.id)).first_name == "Ann"


async def test_one_of_two_concurrent_creations_of_a_phone_is_refused_with_the_id_of_the_other(
    account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    begun = asyncio.Barrier(2)

    async def add() -> int:
        async with unit_for(account) as unit:
            await queries.find_by_phone(unit, PHONE)
            await within("both to begin", begun.wait())
            return (await service.create(unit, {"phone": PHONE})).id

    answers = await asyncio.gather(add(), add(), return_exceptions=True)

    [id] = [answer for answer in answers if isinstance(answer, int)]
    [refused] = [answer for answer in answers if isinstance(answer, Conflict)]
    assert str(refused) == f"A contact with {PHONE} exists: id {id}."
    assert [name for name, _ in await recorded()] == ["new_contact"]


async def test_two_concurrent_find_or_create_calls_of_a_phone_return_the_same_contact(
    account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    begun = asyncio.Barrier(2)

    async def find() -> int:
        async with unit_for(account) as unit:
            await queries.find_by_phone(unit, PHONE)
            await within("both to begin", begun.wait())
            return (await service.find_or_create(unit, PHONE, "inbound_sms")).id

    first, second = await asyncio.gather(find(), find())

    assert first == second
    assert [(name, payload["source"]) for name, payload in await recorded()] == [("new_contact", "inbound_sms")]


async def test_the_same_phone_may_be_a_contact_of_two_accounts(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit, unit_for(await new_account()) as other:
        mine = await service.create(unit, {"phone": PHONE})
        theirs = await service.create(other, {"phone": PHONE})

        assert mine.id != theirs.id


async def test_a_refused_contact_is_neither_kept_nor_told(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    async def add_two() -> None:
        async with unit_for(account) as unit:
            await service.create(unit, {"phone": PHONE})
            await service.create(unit, {"phone": "+12025550144", "email": "nobody"})

    with pytest.raises(InvalidInput):
        await add_two()

    assert await CONTACTS.count(services) == 0
    assert await recorded() == []


async def _set_region(unit: UnitOfWork, region: str) -> None:
    account = await unit.session.get_one(Account, unit.actor.account_id)
    account.region = region
    await unit.save(account)
