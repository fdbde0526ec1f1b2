"""Texts of a CRM that a worker has claimed when their contact is erased, or their integration removed."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from app.domain.crm import sending
from app.domain.erasure import service as erasure
from app.domain.integrations import service as integrations
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_SENDS
from tests.factories.messages import OUTBOUND
from tests.factories.traps import RELEASED, VisitedPool

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"


async def ask(shop: Shop) -> None:
    """Connect a CRM that asks for a text to one contact, which is stored."""
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    await shop.deliver(shop.peer.write(contact, "Your results are in", "msg-1"))
    await shop.applier.run()


async def send_after(shop: Shop, change: Callable[[], Awaitable[object]]) -> None:
    """Run a worker that claims the texts, and sends them after a change."""

    async def visit(statement: str, _: bool) -> None:
        if statement == sending.CLAIM + RELEASED:
            await change()

    pool: Any = VisitedPool(shop.services.database.pool, visit)
    await replace(shop.sends, database=replace(shop.sends.database, pool=pool)).run()


async def test_a_text_whose_contact_is_erased_after_its_claim_is_refused_and_adds_no_contact(shop: Shop) -> None:
    await ask(shop)

    async def erase() -> None:
        async with shop.unit() as unit:
            await erasure.erase(unit, await CONTACTS.only(shop.services, "id"))

    await send_after(shop, erase)
    await shop.settle()

    assert await OUTBOUND.count(shop.services) == 0
    assert await CONTACTS.count(shop.services) == 0
    assert await CRM_SENDS.only(shop.services, "status", "reason") == ("refused", "invalid_phone")
    assert [each["status"] for each in shop.peer.statuses["msg-1"]] == ["failed"]


async def test_a_text_whose_integration_is_removed_after_its_claim_is_not_sent(shop: Shop) -> None:
    await ask(shop)

    async def remove() -> None:
        async with shop.unit() as unit:
            await integrations.remove(unit, shop.ports.integrations, shop.integration_id)

    await send_after(shop, remove)
    await shop.settle()

    assert await OUTBOUND.count(shop.services) == 0
    assert await CRM_SENDS.count(shop.services) == 0
