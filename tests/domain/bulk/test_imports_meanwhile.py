"""Imports while contacts of the file are merged."""

import asyncio

import pytest

from app.domain.bulk import imports
from app.domain.bulk.import_rules import Import
from app.domain.contacts import service as contacts
from app.domain.erasure import merging
from app.domain.erasure.merging import Merge
from app.domain.jobs import uploads
from app.domain.kernel.errors import Conflict
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.jobs import ACCOUNT_JOBS, advance, read_file
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

KEPT, MERGED = "+12025550143", "+12025550144"
FILE = f"phone,last name\n{KEPT},Lee\n{MERGED},Ng\n".encode()


async def begin(unit_for: UnitFor, account: Opened, content: bytes = FILE) -> int:
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, content)
        return (await imports.begin(unit, Import(upload.id))).id


async def add(unit_for: UnitFor, account: Opened, phone: str) -> int:
    async with unit_for(account) as unit:
        return (await contacts.create(unit, {"phone": phone})).id


async def preview(unit_for: UnitFor, account: Opened, wanted: Merge) -> str:
    async with unit_for(account) as unit:
        return (await merging.preview(unit, wanted)).preview_id


async def test_an_import_that_waits_for_a_merge_adds_the_phone_that_the_merge_has_freed(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    into, other = [await add(unit_for, account, phone) for phone in (KEPT, MERGED)]
    wanted = Merge(into, other)
    shown, id = await preview(unit_for, account, wanted), await begin(unit_for, account)
    await advance(services, 1)

    async with unit_for(account) as unit:
        await merging.merge(unit, wanted, shown)
        importing = asyncio.create_task(advance(services))
        await until_blocked(services.database.pool)
    await within("the import", importing)

    rows = await CONTACTS.read(services, "phone", "last_name")
    assert rows == [(KEPT, "Lee"), (MERGED, "Ng")]
    assert await CONTACTS.where(id=into).read(services, "phone") == [KEPT]
    assert await CONTACTS.where(id=other).count(services) == 0
    assert await ACCOUNT_JOBS.only(services, "status", "done", "failed") == ("done", 2, 0)
    assert [line.split(b",")[1] for line in (await read_file(services, id)).splitlines()[1:]] == [
        b"updated",
        b"created",
    ]


async def test_a_merge_that_waits_for_an_import_is_refused_because_the_contacts_changed(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    into, other = [await add(unit_for, account, phone) for phone in (KEPT, MERGED)]
    wanted = Merge(into, other, ("last_name",))
    shown = await preview(unit_for, account, wanted)
    await begin(unit_for, account)
    await advance(services)

    with pytest.raises(Conflict, match="changed since the preview"):
        async with unit_for(account) as unit:
            await merging.merge(unit, wanted, shown)

    assert await CONTACTS.read(services, "phone", "last_name") == [(KEPT, "Lee"), (MERGED, "Ng")]


async def test_merges_and_an_import_of_the_same_contacts_at_the_same_time_lose_no_phone_of_the_file(
    services: Services, unit_for: UnitFor, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "CHUNK", 4)
    phones = [f"+1202555{1000 + number}" for number in range(24)]
    ids = [await add(unit_for, account, phone) for phone in phones]
    id = await begin(unit_for, account, "\n".join(["phone,last name", *(f"{phone},Lee" for phone in phones)]).encode())

    async def merge(into: int, other: int) -> bool:
        wanted = Merge(into, other)
        try:
            shown = await preview(unit_for, account, wanted)
            async with unit_for(account) as unit:
                await merging.merge(unit, wanted, shown)
        except Conflict:
            return False
        return True

    pairs = zip(ids[1::2], ids[::2], strict=True)
    *merged, _ = await within("all", asyncio.gather(*(merge(*pair) for pair in pairs), advance(services)))

    left = await CONTACTS.read(services, "phone")
    assert set(phones[1::2]) <= set(left)
    assert len(left) == len(set(left)) >= len(phones) - merged.count(True)
    assert await ACCOUNT_JOBS.only(services, "status", "done", "failed") == ("done", len(phones), 0)
    assert len((await read_file(services, id)).splitlines()) == 1 + len(phones)
