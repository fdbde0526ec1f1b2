"""Offline checks of phone numbers."""

import pytest

from app.domain.contacts import number_checks, service
from app.domain.kernel import phone as phones
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.phone import Confidence
from app.domain.kernel.unit_of_work import UnitOfWork


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("(202) 555-0143", ("+12025550143", "valid", "unknown", "US", True)),
        ("+15555550100", ("+15555550100", "possible_not_valid", "unknown", None, False)),
        ("+44 7911 123456", ("+447911123456", "valid", "mobile", "GG", True)),
        ("+39 06 12345678", ("+390612345678", "valid", "landline", "IT", False)),
        ("+18005551212", ("+18005551212", "valid", "toll_free", "US", True)),
        ("555-2671", (None, "invalid", "unknown", None, False)),
        ("abc", (None, "invalid", "unknown", None, False)),
    ],
)
async def test_a_number_is_compared_with_its_numbering_plan(
    unit: UnitOfWork, given: str, expected: tuple[object, ...]
) -> None:
    [found] = await number_checks.check_all(unit, [given], [], "US")

    facts = found.facts
    assert found.phone == given
    assert (found.e164, facts.validation, facts.line_type, facts.region, not found.reason) == expected


async def test_a_national_number_is_of_the_country_that_is_named(unit: UnitOfWork) -> None:
    found = await number_checks.look_up(unit, "07911 123456", "GB")

    assert found.e164 == "+447911123456"


async def test_a_country_is_read_in_any_case_and_an_unknown_one_is_refused(unit: UnitOfWork) -> None:
    found = await number_checks.look_up(unit, "07911 123456", "gb")
    assert found.e164 == "+447911123456"

    with pytest.raises(InvalidInput, match="country must be the two letters of a country") as told:
        await number_checks.look_up(unit, "07911 123456", "UK")
    assert told.value.field == "country"


def test_the_name_of_a_carrier_is_as_reliable_as_its_country_allows() -> None:
    assert phones.find_carrier("+12025550143") == (None, Confidence.none)
    assert phones.find_carrier("+8613812345678") == ("China Mobile", Confidence.medium)
    assert phones.find_carrier("+491711234567").confidence is Confidence.low


async def test_contacts_are_checked_by_their_ids(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": "+12025550143"})

    [found] = await number_checks.check_all(unit, [], [contact.id], None)

    assert (found.phone, found.contact_id) == ("+12025550143", contact.id)
    with pytest.raises(NotFound):
        await number_checks.check_all(unit, [], [contact.id + 1], None)


@pytest.mark.parametrize("count", [0, 101])
async def test_one_to_a_hundred_numbers_are_checked_at_once(unit: UnitOfWork, count: int) -> None:
    with pytest.raises(InvalidInput):
        await number_checks.check_all(unit, ["+12025550143"] * count, [], None)
