"""Opt-outs of phones while other transactions give these phones to contacts."""

import asyncio
from typing import Any

import pytest

from app.domain.bulk import imports
from app.domain.bulk.import_rules import Import
from app.domain.consent.service import Evidence
from app.domain.contacts import additions, opt_outs, service
from app.domain.contacts.additions import AddedContact
from app.domain.contacts.events import NewContact
from app.domain.jobs import uploads
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Act, Recorded, UnitFor
from tests.factories.contacts import CONSENTS, CONTACTS, SUPPRESSIONS
from tests.factories.jobs import advance, read_file
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

PHONE, FORMER = "+12025550143", "+12025550199"
EVIDENCE = Evidence("letter", "Stop.")
WAYS = ["create", "upsert", "find_or_create", "change_phone", "add_many"]


async def give(unit: UnitOfWork, way: str) -> None:
    """Give the phone to a contact."""
    match way:
        case "create":
            await service.create(unit, {"phone": PHONE})
        case "upsert":
            await service.upsert(unit, {"phone": PHONE}, "form")
        case "find_or_create":
            await service.find_or_create(unit, PHONE, "inbound_sms")
        case "change_phone":
            [former] = await service.find_exact(unit, FORMER, None)
            await service.update(unit, former.id, {"phone": PHONE})
        case _:
            await additions.add_many(unit, [AddedContact(PHONE)], lambda added: [NewContact.of(added)])


@pytest.fixture
async def former(perform: Act) -> None:
    """Add a contact with another phone."""
    await perform(service.create, {"phone": FORMER})


async def status_of(services: Services, phone: str = PHONE) -> str:
    return await CONTACTS.where(phone=phone).only(services, "status")


@pytest.mark.parametrize("way", WAYS)
async def test_a_contact_that_gets_a_phone_while_it_opts_out_is_opted_out(
    services: Services, unit_for: UnitFor, account: Opened, perform: Act, former: None, way: str
) -> None:
    async with unit_for(account) as unit:
        assert await opt_outs.revoke(unit, PHONE, EVIDENCE) is None
        giving = asyncio.create_task(perform(give, way))
        await until_blocked(services.database.pool)
    await within("the addition", giving)

    assert await status_of(services) == "opted_out"
    assert await CONSENTS.count(services) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_an_opt_out_of_a_phone_waits_for_the_contact_that_gets_it(
    services: Services, unit_for: UnitFor, account: Opened, perform: Act, former: None, way: str
) -> None:
    async with unit_for(account) as unit:
        await give(unit, way)
        revoking = asyncio.create_task(perform(opt_outs.revoke, PHONE, EVIDENCE))
        await until_blocked(services.database.pool)
    found = await within("the opt-out", revoking)

    assert (found.phone, await status_of(services)) == (PHONE, "opted_out")
    assert await SUPPRESSIONS.count(services) == 1


async def test_the_first_contact_of_an_account_that_is_added_during_an_opt_out_is_opted_out(
    services: Services, unit_for: UnitFor, account: Opened, perform: Act
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.revoke(unit, PHONE, EVIDENCE)
        giving = asyncio.create_task(perform(give, "create"))
        await until_blocked(services.database.pool)
    await within("the addition", giving)

    assert await status_of(services) == "opted_out"


async def test_the_event_of_a_contact_that_is_added_during_its_opt_out_says_so(
    services: Services, unit_for: UnitFor, account: Opened, perform: Act, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.revoke(unit, PHONE, EVIDENCE)
        giving = asyncio.create_task(perform(give, "add_many"))
        await until_blocked(services.database.pool)
    await within("the addition", giving)

    assert [(name, payload["status"]) for name, payload in await recorded()] == [("new_contact", "opted_out")]


@pytest.mark.parametrize("is_known", [False, True])
async def test_an_import_during_an_opt_out_reports_it_and_records_no_consent(
    services: Services, unit_for: UnitFor, account: Opened, perform: Act, is_known: bool
) -> None:
    if is_known:
        await perform(service.create, {"phone": PHONE})
    async with unit_for(account) as unit:
        upload = await uploads.create(unit, "people.csv")
        await uploads.add_part(unit, upload.id, 0, f"phone\n{PHONE}\n".encode())
        id = (await imports.begin(unit, Import(upload.id, consent="I agree."))).id
    await advance(services, 1)

    async with unit_for(account) as unit:
        await opt_outs.revoke(unit, PHONE, EVIDENCE)
        importing = asyncio.create_task(advance(services))
        await until_blocked(services.database.pool)
    await within("the import", importing)

    assert b",suppressed," in await read_file(services, id)
    assert await status_of(services) == "opted_out"
    assert await CONSENTS.read(services, "kind") == ["revoked_other"]


async def test_a_send_during_an_opt_out_adds_an_opted_out_contact(
    services: Services, unit_for: UnitFor, account: Opened, api: Any
) -> None:
    sent = {"to": PHONE, "message": "Hi", "consent_attested": True}
    async with unit_for(account) as unit:
        await opt_outs.revoke(unit, PHONE, EVIDENCE)
        sending = asyncio.create_task(api.post("/sms/send", json=sent))
        await until_blocked(services.database.pool)
    await within("the send", sending)

    assert await status_of(services) == "opted_out"


async def test_two_opt_outs_of_a_phone_without_a_contact_are_both_recorded(
    services: Services, unit_for: UnitFor, account: Opened, perform: Act
) -> None:
    async with unit_for(account) as unit:
        await opt_outs.revoke(unit, PHONE, EVIDENCE)
        again = asyncio.create_task(perform(opt_outs.revoke, PHONE, EVIDENCE))
        await until_blocked(services.database.pool)
    await within("the second opt-out", again)

    assert (await SUPPRESSIONS.count(services), await CONSENTS.count(services)) == (1, 2)
    assert await CONTACTS.count(services) == 0
