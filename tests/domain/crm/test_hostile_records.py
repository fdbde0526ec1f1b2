"""Records of a CRM with values of any size and type: none keeps the others from being synchronized."""

import json
from typing import Any

import pytest

from app.domain.kernel.errors import NotFound
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_LINKS, CRM_PUSHES
from tests.factories.integrations import INTEGRATION_EVENTS
from tests.peers.highlevel import Fault

pytestmark = pytest.mark.anyio

GOOD = "+12025550143"
MOST_PARAMETERS = 32_767
"""The number of parameters that a statement has at most."""

HOSTILE: list[dict[str, Any]] = [
    {"id": None},
    {"id": {"a": 1}},
    {"id": "x" * 5000},
    {"id": "a\u0000b"},
    {"id": "../../oauth/token?x=#"},
    {"dateUpdated": None},
    {"dateUpdated": "yesterday"},
    {"dateUpdated": 10**30},
    {"dateUpdated": "9999-12-31T23:59:59.999-23:00"},
    {"dateUpdated": "0001-01-01T00:00:00+23:00"},
    {"phone": None},
    {"phone": {"number": GOOD}},
    {"phone": 12025550150},
    {"phone": "9" * 100_000},
    {"phone": GOOD},
    {"firstName": ["A"], "lastName": {"a": {}}, "email": 17},
    {"firstName": "\u0000\u0007\u202e\ud83d\ude00", "lastName": "L" * 100_000, "email": "@" * 9000},
    {"dnd": "yes", "dndSettings": ["SMS"]},
    {"dndSettings": {"SMS": {"status": ["active"]}}},
    {"searchAfter": [{"deep": [[[[1]]]]}]},
]


@pytest.mark.parametrize("total", [10**30, -1, "many", None])
async def test_records_with_hostile_values_keep_no_other_from_being_synchronized(shop: Shop, total: Any) -> None:
    good = shop.peer.add(phone=GOOD, firstName="Good")
    shop.peer.notices.clear()
    records = [
        {**shop.peer.contacts[good], "id": f"hostile{number}", "phone": f"+120255501{number:02d}", **values}
        for number, values in enumerate(HOSTILE)
    ]
    page = {"contacts": [*records, shop.peer.contacts[good], 1, None, "x"], "total": total}
    await shop.connect()
    shop.peer.faults.append(Fault(200, content=json.dumps(page).encode()))

    await shop.settle()

    assert await shop.state("sync", "error") == ("done", "")
    assert await CRM_LINKS.where(external_id=good).count(shop.services) == 1
    assert await CONTACTS.where(phone=GOOD).read(shop.services, "first_name") == ["Good"]
    failed = await CRM_PUSHES.where(status="failed").read(shop.services, "external_id", "reason")
    assert len(failed) > 5
    assert max(len(reason) for _, reason in failed) <= 500


@pytest.mark.parametrize("id", ["x" * 5000, "é" * 900, ["x"], None])
async def test_a_notice_about_a_contact_with_a_hostile_id_is_refused_and_not_stored(shop: Shop, id: object) -> None:
    await shop.connect()

    with pytest.raises(NotFound):
        await shop.deliver(shop.peer.sign({"type": "ContactUpdate", "locationId": shop.peer.location, "id": id}))

    assert await INTEGRATION_EVENTS.count(shop.services) == 0


async def test_a_crm_that_gives_the_same_page_for_ever_is_left_alone_and_its_health_says_so(shop: Shop) -> None:
    for number in range(100):
        shop.peer.add(phone=f"+120255502{number:02d}")
    shop.peer.notices.clear()
    page = [{**each, "searchAfter": ["0", "0"]} for each in shop.peer.contacts.values()]
    again = Fault(200, content=json.dumps({"contacts": page, "total": 100_000}).encode())
    await shop.connect()
    shop.peer.faults.extend([again] * 5)

    await shop.work()

    assert [call for call in shop.peer.calls if "search" in call] == ["POST /contacts/search"] * 2
    assert await CONTACTS.count(shop.services) == 100
    assert "same page" in await shop.state("error")

    shop.peer.faults.clear()
    shop.move(seconds=5)
    await shop.settle()
    assert await shop.state("sync", "error") == ("done", "The CRM gives the same page of contacts again.")


async def test_a_page_with_far_more_contacts_than_were_asked_for_is_taken_over(shop: Shop) -> None:
    record = {"id": "c1", "phone": GOOD, "dateUpdated": "2026-01-01T00:00:00Z", "searchAfter": ["9", "9"]}
    await shop.connect()
    shop.peer.faults.append(Fault(200, content=json.dumps({"contacts": [record] * MOST_PARAMETERS}).encode()))

    await shop.work()

    assert await shop.state("sync", "error") == ("done", "")
    assert await CRM_LINKS.read(shop.services, "external_id") == ["c1"]
