"""The answers to notices of a CRM that is not connected, and while the database is away."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

import httpx2
import pytest

from app.bootstrap import open_services
from app.domain.crm.service import address_of
from app.domain.integrations.intake import Intake
from app.domain.integrations.scheduling import Delivery
from app.providers.rate_limits import Policy
from app.rest import integrations
from app.settings import Settings
from tests.domain.crm.conftest import Shop
from tests.factories.integrations import INTEGRATION_EVENTS
from tests.peers.highlevel import HighLevelPeer
from tests.shared import Shared

pytestmark = pytest.mark.anyio

UNINSTALLED = {"type": "UNINSTALL", "appId": "64f0a1b2", "companyId": "company1"}
"""The notice of an application that is uninstalled from an agency, with all its sub-accounts: it names none of them."""


async def post(
    shop: Shop, shared: Shared, intake: Intake, *notices: Delivery, place: str = ""
) -> Sequence[httpx2.Response]:
    """Post notices to the address of a CRM, or to a place below it; return the answers."""
    services = replace(shop.services, intake=intake)
    transport = httpx2.ASGITransport(app=await shared.app(services), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=services.settings.public_url) as http:
        return [
            await http.post(f"/integrations/{shop.peer.kind}{place}", content=each.body, headers=dict(each.headers))
            for each in notices
        ]


async def test_a_signed_notice_that_names_no_connected_account_is_ignored_and_an_unsigned_one_is_refused(
    shop: Shop, shared: Shared
) -> None:
    await shop.connect()
    stranger = {"type": "ContactUpdate", "id": "contact1", "locationId": "loc2"}
    signed = shop.peer.sign(UNINSTALLED), shop.peer.sign(stranger), HighLevelPeer().sign(UNINSTALLED)

    answers = await post(shop, shared, shop.intake, *signed)

    assert [answer.status_code for answer in answers] == [202, 202, 404]
    assert [answer.json() for answer in answers[:2]] == [{"status": "ignored"}] * 2
    assert await INTEGRATION_EVENTS.count(shop.services) == 0


async def test_a_text_of_the_crm_is_asked_for_again_where_the_database_is_away(
    shop: Shop, shared: Shared, settings: Settings
) -> None:
    """HighLevel posts a notice again after an answer of 429, and after no other one."""
    await shop.connect()
    contact = shop.peer.add(phone="+12025550143")

    async with open_services(settings) as away:
        await away.database.pool.close()
        [answer] = await post(
            shop, shared, replace(shop.intake, database=away.database), shop.peer.write(contact, "Hello")
        )

    assert (answer.status_code, answer.json()["error_code"]) == (429, "rate_limited")
    assert answer.headers["retry-after"] == "5"


async def test_notices_that_name_an_account_that_is_not_connected_are_limited_by_the_account(
    shop: Shop, shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An owner of one signed notice could otherwise post it without a limit."""
    monkeypatch.setattr(integrations, "POLICY", Policy("integration events", 1))
    strangers = [{"type": "ContactUpdate", "id": "contact1", "locationId": f"loc{uuid4()}"} for _ in range(2)]
    signed = [*map(shop.peer.sign, strangers), *map(shop.peer.sign, strangers)]

    answers = await post(shop, shared, shop.intake, *signed)

    assert [answer.status_code for answer in answers] == [202, 202, 429, 429]


async def test_a_notice_about_another_account_does_not_reach_a_connected_one_by_its_address(
    shop: Shop, shared: Shared
) -> None:
    await shop.connect()
    stranger = shop.peer.sign({"type": "ContactUpdate", "id": "contact1", "locationId": "loc2"})

    [answer] = await post(shop, shared, shop.intake, stranger, place=f"/{address_of(shop.peer.location)}")

    assert (answer.status_code, answer.json()) == (202, {"status": "ignored"})
    assert await INTEGRATION_EVENTS.count(shop.services) == 0
