"""The time for which texts wait for a CRM that cannot be called."""

from datetime import timedelta

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.crm.retention import RULES
from app.domain.kernel import retention
from tests.domain.crm.conftest import Shop
from tests.factories.crm import CRM_PUSHES

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"


async def test_a_text_waits_for_a_lost_crm_for_90_days_and_a_changed_contact_until_it_is_authorized_again(
    shop: Shop,
) -> None:
    await shop.connect()
    await shop.settle()
    shop.peer.uninstall()
    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, shop.account.phone_number, "Hello"))
    await shop.settle()
    lost = await shop.state("state")
    kept = list[list[str]]()

    for days in (89.9, 90.1):
        await retention.apply(RULES, shop.services.database.pool, shop.clock.now() + timedelta(days=days))
        kept.append(sorted(await CRM_PUSHES.where(status="waiting").read(shop.services, "kind")))
    await shop.connect()
    await shop.settle()

    assert (lost, kept) == ("lost", [["contact", "inbound"], ["contact"]])
    assert [each["phone"] for each in shop.peer.contacts.values()] == [PHONE]
    assert shop.peer.messages == []
