"""Notes of an import: the columns that no field of contacts has, and a dry run; and a country that is none."""

import pytest

from app.domain.bulk import imports
from app.domain.bulk.import_rules import Import
from app.domain.jobs import uploads
from app.domain.kernel.errors import InvalidInput
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance

pytestmark = pytest.mark.anyio

FORMAT = "Read as CSV in UTF-8, separated by ',', with a header."


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        (["first name", ""], []),
        (
            ["Shoe size", "first name", "Favourite colour"],
            ["Columns without a field of contacts are left out: Shoe size, Favourite colour."],
        ),
        (
            [f"Extra {n}" for n in range(7)],
            [
                "Columns without a field of contacts are left out: Extra 0, Extra 1, Extra 2, Extra 3, Extra 4 and 2"
                " more."
            ],
        ),
    ],
)
async def test_columns_that_are_left_out_are_named(
    services: Services, unit_for: UnitFor, account: Opened, columns: list[str], named: list[str]
) -> None:
    lines = ",".join(["phone", *columns]), ",".join(["+12025550143", *("x" for _ in columns)])
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, "\n".join(lines).encode())
        await imports.begin(unit, Import(upload.id))

    await advance(services)

    assert await ACCOUNT_JOBS.only(services, "problems", "changed") == ([FORMAT, *named], 1)


async def test_an_unknown_country_is_refused_before_the_import(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone\n07911 123456")
        with pytest.raises(InvalidInput, match="country must be the two letters of a country"):
            await imports.begin(unit, Import(upload.id, country="UK"))

    assert await ACCOUNT_JOBS.count(services) == 0


async def test_a_dry_run_says_that_it_is_one(services: Services, unit_for: UnitFor, account: Opened) -> None:
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, b"phone\n+12025550143")
        await imports.begin(unit, Import(upload.id, dry_run=True))

    await advance(services)

    note = "This is a dry run: it counts the changes of an import, and changes nothing."
    assert await ACCOUNT_JOBS.only(services, "problems", "changed") == ([FORMAT, note], 1)
    assert await CONTACTS.count(services) == 0
