"""Imports of do-not-contact lists: opt-outs of many rows, by few statements, in transactions with few locks."""

from typing import Any

import pytest

from app.domain.bulk import imports
from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts import service as contacts
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.bulk.test_imports import Importing
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.contacts import CONSENTS, CONTACTS, HOLDS, SUPPRESSIONS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.plans import noted
from tests.factories.tables import Rows, ago, ahead

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"
OPT_IN_REQUESTS = Rows("opt_in_requests")


@pytest.fixture
def importing(services: Services, unit_for: UnitFor, account: Opened) -> Importing:
    """Provide imports of the account."""
    return Importing(services, unit_for, account)


def listing(count: int) -> bytes:
    phones = (f"+1202555{number:04}" for number in range(count))
    return "\n".join(["phone,status", *(f"{phone},opted_out" for phone in phones)]).encode()


async def test_a_hundred_opted_out_rows_take_as_many_statements_as_one(
    importing: Importing, services: Services
) -> None:
    counts = list[int]()
    for rows in (1, 100):
        with noted() as sent:
            await importing.run(listing(rows))
        counts.append(len(sent))

    assert counts[1] <= counts[0]
    assert await CONTACTS.where(status="opted_out").count(services) == 100
    assert (await SUPPRESSIONS.count(services), await CONSENTS.count(services)) == (100, 100)


async def test_a_transaction_ends_after_a_number_of_opted_out_rows(
    importing: Importing, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "OPT_OUTS", 3)
    content = listing(7) + b"\n+12025550190,active\n+12025550191,active"

    with noted() as sent:
        job, report = await importing.run(content)

    locked = [
        len(phones) for query, parameters in sent if "pg_advisory_xact_lock" in query for phones in parameters[1:]
    ]
    assert locked == [3, 3, 1]
    assert [line[1] for line in report] == [*["suppressed"] * 7, "created", "created"]
    assert (job.total, job.done, job.counts) == (9, 9, {"suppressed": 7, "created": 2})
    assert await SUPPRESSIONS.count(services) == 7


async def test_a_list_that_ends_with_the_last_opt_out_of_a_transaction_is_done(
    importing: Importing, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "OPT_OUTS", 3)

    job, report = await importing.run(listing(6))

    assert (job.status, job.done, len(report)) == ("done", 6, 6)
    assert await SUPPRESSIONS.count(services) == 6


async def test_an_imported_opt_out_is_evidence_for_new_and_known_contacts(
    importing: Importing, services: Services, unit_for: UnitFor, account: Opened, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        known = await contacts.create(unit, {"phone": PHONE, "first_name": "Ann"})

    await importing.run(f"phone,status\n{PHONE},opted_out\n+12025550144,stop\n".encode())

    keyword = "The status of the row is…"
    phones = [PHONE, "+12025550144"]
    told = [payload for name, payload in await recorded() if name == "new_opt_out"]
    assert [(each["phone"], each["keyword"]) for each in told] == [(phone, keyword) for phone in phones]
    assert (told[0]["contact_id"], told[0]["first_name"]) == (known.id, "Ann")
    reasons = await SUPPRESSIONS.read(services, "phone", "reason", "keyword")
    assert [tuple(row) for row in reasons] == [(phone, "recorded", keyword) for phone in phones]
    said = await CONSENTS.read(services, "phone", "kind", "method", "text", "actor")
    evidence = "revoked_other", "import", "The status of the row is opted_out.", "test"
    assert [tuple(row) for row in said] == [(phone, *evidence) for phone in phones]
    assert await CONTACTS.read(services, "status") == ["opted_out", "opted_out"]


async def test_an_imported_opt_out_decides_on_an_unclear_reply(
    importing: Importing, services: Services, account: Opened, recorded: Recorded
) -> None:
    unclear = InboundMessage("in-1", PHONE, account.phone_number, "STOP what time is the showing")
    await services.inbox.receive("sandbox", unclear)
    assert await CONVERSATIONS.only(services, "possible_opt_out") is True

    await importing.run(f"phone,status\n{PHONE},opted_out\n".encode())

    assert await CONVERSATIONS.only(services, "possible_opt_out") is False
    assert tuple(await CONTACTS.only(services, "status", "held_until")) == ("opted_out", None)
    assert await HOLDS.count(services) == 0
    changed = [payload["changed"] for name, payload in await recorded() if name == "conversation_changed"]
    assert changed[-1] == ["possible_opt_out"]


async def test_an_imported_opt_out_ends_a_request_for_an_opt_in(
    importing: Importing, services: Services, account: Opened
) -> None:
    asked: dict[str, Any] = {"account_id": account.account_id, "keyword": "join", "text": "Join", "question": "Sure?"}
    for phone in (PHONE, "+12025550144"):
        times = {"expires_at": ahead(hours=20), "created_at": ago(hours=4)}
        await OPT_IN_REQUESTS.insert(services, phone=phone, message_id=1, question_id=2, **times, **asked)

    await importing.run(f"phone,status\n{PHONE},opted_out\n+12025550144,active\n".encode())

    assert await OPT_IN_REQUESTS.where(phone=PHONE).only(services, "outcome") == "opted_out"
    assert await OPT_IN_REQUESTS.where(phone="+12025550144").only(services, "outcome") is None
