"""The turns of connections: their leases, and integrations that are removed under way."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.crm import worker
from app.domain.integrations import service as integrations
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.crm import conftest
from tests.domain.crm.conftest import Shop
from tests.factories.crm import CRM_CONNECTIONS, CRM_LINKS, CRM_PUSHES
from tests.factories.integrations import INTEGRATIONS
from tests.factories.traps import VisitedPool
from tests.peers.highlevel import Fault
from tests.waiting import until, within

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"


async def test_a_turn_that_lasts_longer_than_a_lease_keeps_its_connection(shop: Shop) -> None:
    await shop.connect()
    shop.peer.faults.append(Fault(None))
    holder = replace(shop.worker, lease=timedelta(seconds=1))
    await holder.run()
    await within("the call", shop.peer.hung.wait())

    shop.move(minutes=5)
    await until(lambda: _is_leased(shop))
    assert not await shop.worker.due()
    await holder.abandon()

    assert shop.peer.calls.count("POST /contacts/search") == 1


async def test_the_connection_of_a_worker_that_died_is_taken_over_after_15_seconds(shop: Shop) -> None:
    await shop.connect()
    shop.peer.faults.append(Fault(None))
    died = replace(shop.worker)
    await died.run()
    await within("the call", shop.peer.hung.wait())
    await died.abandon()

    shop.move(seconds=14)
    assert not await shop.worker.due()
    shop.move(seconds=1)
    await shop.settle()

    assert await shop.state("sync", "error") == ("done", "")


async def test_a_worker_whose_lease_has_expired_makes_no_call_and_records_no_turn(shop: Shop) -> None:
    await shop.connect()
    late = replace(shop.worker, lease=timedelta())
    shop.peer.calls.clear()

    await late.run()
    await shop.worker.run()
    await asyncio.gather(late.idle(), shop.worker.idle())

    assert shop.peer.calls == ["POST /contacts/search"]
    assert await shop.state("sync", "error", "failures") == ("done", "", 0)


async def test_a_turn_with_the_tokens_of_before_does_not_end_a_new_authorization(shop: Shop) -> None:
    await shop.connect()
    shop.peer.uninstall()

    async def authorize_again() -> None:
        if shop.peer.calls[-1] == "POST /oauth/reconnect":
            await shop.connect()
            shop.peer.faults.append(Fault(400))

    shop.peer.on_call = authorize_again
    await shop.work()

    assert shop.peer.calls.count("POST /oauth/reconnect") == 1
    assert await shop.state("state", "error", "sync") == ("authorized", "", "done")


async def test_a_worker_that_learns_of_its_lease_after_the_end_makes_no_call(shop: Shop) -> None:
    await shop.connect()

    async def answer_late(statement: str, is_done: bool) -> None:
        if statement == worker.CLAIM and is_done:
            await asyncio.sleep(1)

    visited: Any = VisitedPool(shop.services.database.pool, answer_late)
    database = replace(shop.worker.database, pool=visited)
    late = replace(shop.worker, lease=timedelta(seconds=1), database=database)
    shop.peer.calls.clear()

    await late.run()
    await CRM_CONNECTIONS.change(shop.services, lease=2)  # another worker takes it over
    await late.idle()

    assert shop.peer.calls == []


async def test_an_answer_that_comes_after_another_worker_has_taken_over_has_no_effect(
    services: Services, account: Opened
) -> None:
    async with conftest.open_shop(services, account) as shop:
        for number in range(101):
            shop.peer.add(phone=f"+1202555{1000 + number}")
        shop.peer.notices.clear()
        await shop.connect()
        late = replace(shop.worker, _turns=set())

        async def take_over() -> None:
            shop.peer.on_call = lambda: asyncio.sleep(0)
            shop.move(seconds=15)
            await shop.worker.run()
            await shop.worker.idle()

        shop.peer.on_call = take_over
        await late.run()
        await within("the turn of the late worker", late.idle())

        assert await shop.state("sync", "cursor", "fetched") == ("done", "", 101)


@pytest.mark.parametrize("call", ["POST /contacts/search", "GET /contacts/search/duplicate", "POST /contacts/"])
async def test_a_connection_that_is_removed_during_its_turn_ends_without_a_fault_and_is_revoked(
    shop: Shop, call: str
) -> None:
    faults = list[Any]()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    shop.peer.add(phone="+12025550144")
    shop.peer.notices.clear()
    await shop.connect()
    await shop.add(PHONE)

    async def remove() -> None:
        if shop.peer.calls[-1] == call and await CRM_CONNECTIONS.where_not(integration_id=None).count(shop.services):
            async with shop.unit() as unit:
                await integrations.remove(unit, shop.ports.integrations, shop.integration_id)

    shop.peer.on_call = remove
    await shop.work()

    assert faults == []
    assert not shop.peer.is_installed
    assert [table for table in (CRM_CONNECTIONS, CRM_LINKS, CRM_PUSHES) if await table.count(shop.services)] == []
    assert await INTEGRATIONS.count(shop.services) == 0


async def _is_leased(shop: Shop) -> bool:
    return await shop.state("leased_until") > shop.clock.now()
