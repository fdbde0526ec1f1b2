"""Records of consent: their evidence, that nobody changes them, and that an opt-out outlives its contact."""

from datetime import timedelta

import asyncpg
import pytest

from app.domain.consent import evidence, queries
from app.domain.consent.service import MAX_LENGTHS, Evidence
from app.domain.contacts import opt_outs, service
from app.domain.conversations import review
from app.domain.erasure import service as erasure
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import NOON, SetClock, UnitFor
from tests.domain.erasure.deletions import ask, deletions, run_out
from tests.factories.contacts import CONSENTS, CONTACTS, SUPPRESSIONS
from tests.factories.tables import Change

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
ADDRESS = "ip_address must be an IP address such as 203.0.113.9 or 2001:db8::9."
LETTER = Evidence("letter", "Stop.", None, "letter 17 of 2026", "By mail, signed.", NOON - timedelta(days=3))
FORM = Evidence("web_form", "Text me.", ip_address=" 2001:DB8:0::9 ", user_agent=" Firefox/150 ")


async def test_a_record_keeps_source_note_and_the_time_of_the_statement(unit: UnitOfWork) -> None:
    unit.clock = SetClock()
    contact = await service.create(unit, {"phone": PHONE})

    await opt_outs.record_opt_out(unit, contact.id, LETTER)

    [record] = await queries.find_consents(unit, [PHONE])
    assert (record.kind, record.method, record.text) == ("revoked_other", "letter", "Stop.")
    assert (record.source, record.note) == ("letter 17 of 2026", "By mail, signed.")
    assert record.occurred_at == NOON - timedelta(days=3)


async def test_a_record_keeps_the_address_and_the_browser_of_a_form(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": PHONE})

    await review.record_opt_in(unit, contact.id, FORM)

    [record] = await queries.find_consents(unit, [PHONE])
    assert (record.ip_address, record.user_agent) == ("2001:db8::9", "Firefox/150")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (Evidence("web_form", ip_address="my phone"), ADDRESS),
        (Evidence("web_form", ip_address="fe80::1%\x1b[31m"), ADDRESS),
        (Evidence(" "), "method must not be empty."),
        (Evidence("letter", occurred_at=NOON + timedelta(seconds=1)), "occurred_at must not be in the future."),
        *(
            (Evidence(**{"method": "letter", name: "x" * (limit + 1)}), f"{name} must have at most {limit} characters.")
            for name, limit in MAX_LENGTHS.items()
        ),
    ],
)
async def test_evidence_is_checked(unit: UnitOfWork, given: Evidence, reason: str) -> None:
    unit.clock = SetClock()

    with pytest.raises(InvalidInput) as refused:
        await review.revoke(unit, PHONE, given)

    assert str(refused.value) == reason
    assert await queries.find_suppression(unit, PHONE) is None
    assert await queries.find_consents(unit, [PHONE]) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda services: CONSENTS.change(services, text="Something else"),
        lambda services: CONSENTS.change(services, account_id=1),
        lambda services: CONSENTS.age(services, "recorded_at", days=1),
        lambda services: CONSENTS.delete(services),
        lambda services: CONSENTS.truncate(services),
    ],
)
async def test_the_database_refuses_to_change_or_delete_a_record(
    services: Services, account: Opened, unit_for: UnitFor, change: Change
) -> None:
    async with unit_for(account) as unit:
        await review.revoke(unit, PHONE, Evidence("letter", "Stop."))
    before = await CONSENTS.read(services)

    with pytest.raises(asyncpg.RestrictViolationError, match=r"may not be (changed or deleted|truncated)"):
        await change(services)

    assert await CONSENTS.read(services) == before


async def test_the_records_of_a_deleted_account_are_deleted(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        await review.revoke(unit, PHONE, Evidence("letter", "Stop."))
    await ask(services, account.account_id)

    await run_out(deletions(services))

    assert await CONSENTS.count(services) == 0
    assert await SUPPRESSIONS.read(services, "phone") == [PHONE]


async def test_consent_is_revoked_for_a_phone_that_no_contact_has(unit: UnitOfWork) -> None:
    assert await review.revoke(unit, "(202) 555-0143", Evidence("letter", "Stop.")) == PHONE

    found = await evidence.find(unit, PHONE)
    assert found.suppression is not None
    assert (found.suppression.reason, found.suppression.keyword, found.hold) == ("recorded", "Stop.", None)
    assert (await service.create(unit, {"phone": PHONE})).status == "opted_out"


async def test_consent_is_revoked_for_the_contact_that_has_the_phone(unit: UnitOfWork) -> None:
    contact = await service.create(unit, {"phone": PHONE})

    await review.revoke(unit, PHONE, Evidence("verbal"))

    assert contact.status == "opted_out"
    assert len(await queries.find_consents(unit, [PHONE])) == 1


async def test_revoking_consent_of_an_invalid_phone_is_refused(unit: UnitOfWork) -> None:
    with pytest.raises(InvalidPhone):
        await review.revoke(unit, "555", Evidence("letter"))

    assert await queries.find_suppressed(unit, ["555"]) == set()


async def test_an_opt_out_and_its_records_outlive_the_contact(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        contact = await service.create(unit, {"phone": PHONE})
        await review.record_opt_out(unit, contact.id, Evidence("verbal", "No more."))
        await erasure.erase(unit, contact.id)

    async with unit_for(account) as unit:
        again = await service.upsert(unit, {"phone": PHONE}, "import")
        found = await evidence.find(unit, PHONE)

    assert again.id != contact.id
    assert await CONTACTS.only(services, "status") == "opted_out"
    assert found.suppression is not None
    assert await CONSENTS.read(services, "text") == ["No more."]


async def test_evidence_is_read_to_the_end_in_batches(
    services: Services, account: Opened, unit_for: UnitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "READ", evidence.READ.replace("LIMIT 1000", "LIMIT 2"))
    async with unit_for(account) as unit:
        for number in range(5):
            await review.revoke(unit, PHONE, Evidence("letter", f"Letter {number}"))
        await review.revoke(unit, "+12025550144", Evidence("letter", "Another person"))

    batches = [
        [each.text for each in batch]
        async for batch in evidence.read(services.database.pool, account.account_id, PHONE)
    ]

    assert batches == [["Letter 0", "Letter 1"], ["Letter 2", "Letter 3"], ["Letter 4"]]
