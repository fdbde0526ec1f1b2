"""Connections to CRMs stop with their creator, until somebody takes them over."""

import asyncio

import pytest

from app.domain.crm import service
from app.domain.integrations import queries
from app.domain.integrations import service as integrations
from app.domain.kernel.errors import InsufficientScope, NotFound
from app.domain.kernel.unit_of_work import Actor, open_unit
from tests.domain.crm.conftest import Shop
from tests.domain.integrations.creators import CREATORS, add_creator, end_creator
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_SENDS
from tests.factories.integrations import INTEGRATIONS
from tests.factories.messages import OUTBOUND
from tests.factories.traps import until_blocked

pytestmark = pytest.mark.anyio

PHONE, OTHER = "+12025550143", "+12025550144"


async def connect(shop: Shop, creator: Actor) -> int:
    async with open_unit(shop.services.database.sessions, creator, shop.clock, shop.services.notify) as unit:
        given = shop.peer.authorize(service.begin(unit, shop.ports, shop.peer.kind))
        return (await service.finish(unit, shop.ports, **given)).id


@pytest.mark.parametrize("kind", CREATORS)
async def test_a_connection_exchanges_nothing_with_its_crm_once_its_creator_has_ended(shop: Shop, kind: str):
    creator = await add_creator(shop.services, shop.account.account_id, kind)
    await connect(shop, creator)
    await shop.settle()
    record = shop.peer.add(phone=PHONE)
    await shop.settle()
    await shop.deliver(shop.peer.write(record, "Hello", "msg-1"))
    await shop.add(OTHER)
    await end_creator(shop.services, creator)
    shop.peer.calls.clear()

    await shop.work()
    with pytest.raises(NotFound):
        await shop.deliver(shop.peer.write(record, "Hello again", "msg-2"))

    assert (shop.peer.calls, await OUTBOUND.count(shop.services)) == ([], 0)
    assert await INTEGRATIONS.only(shop.services, "status") == "paused"


async def test_a_text_that_a_crm_has_asked_for_waits_once_the_creator_has_ended(shop: Shop):
    creator = await add_creator(shop.services, shop.account.account_id, "key")
    await connect(shop, creator)
    record = shop.peer.add(phone=PHONE)
    await shop.settle()
    await shop.deliver(shop.peer.write(record, "Hello", "msg-1"))
    await shop.applier.run()
    await end_creator(shop.services, creator)

    await shop.sends.run()

    assert await CRM_SENDS.only(shop.services, "status") == "waiting"
    assert await OUTBOUND.count(shop.services) == 0
    assert not await shop.sends.due()


async def test_a_turn_ends_before_its_next_step_once_the_creator_has_ended(shop: Shop):
    creator = await add_creator(shop.services, shop.account.account_id, "key")
    shop.peer.add(phone=PHONE)
    await connect(shop, creator)
    shop.peer.calls.clear()

    async def end() -> None:
        await end_creator(shop.services, creator)
        shop.peer.on_call = lambda: asyncio.sleep(0)

    shop.peer.on_call = end
    await shop.work()

    assert shop.peer.calls == ["POST /contacts/search"]
    assert await INTEGRATIONS.only(shop.services, "status") == "paused"


async def test_connecting_a_crm_again_makes_the_caller_the_creator_of_its_connection(shop: Shop):
    creator = await add_creator(shop.services, shop.account.account_id, "key")
    other = await add_creator(shop.services, shop.account.account_id, "user")
    ids = [await connect(shop, creator), await connect(shop, other)]

    await end_creator(shop.services, creator)
    shop.peer.add(phone=PHONE)
    await shop.settle()

    assert ids[0] == ids[1]
    assert await CONTACTS.read(shop.services, "phone") == [PHONE]
    assert await INTEGRATIONS.only(shop.services, "status") == "active"


async def test_a_connection_whose_creator_has_ended_and_that_is_authorized_again_waits_to_be_resumed(shop: Shop):
    creator = await add_creator(shop.services, shop.account.account_id, "key")
    other = await add_creator(shop.services, shop.account.account_id, "user")
    await connect(shop, creator)
    await end_creator(shop.services, creator)

    await connect(shop, other)

    assert await INTEGRATIONS.only(shop.services, "status") == "paused"


async def test_a_crm_that_is_authorized_again_while_it_is_removed_is_connected_anew(shop: Shop):
    former = await shop.connect()

    async with asyncio.TaskGroup() as tasks, shop.unit() as unit:
        await queries.get(unit, former, lock=True)
        connecting = tasks.create_task(shop.connect())
        await until_blocked(shop.services.database.pool)
        await integrations.remove(unit, shop.ports.integrations, former)
    await shop.work()

    assert connecting.result() != former
    assert await INTEGRATIONS.where(status="active").only(shop.services, "id") == connecting.result()
    assert shop.peer.is_installed


async def test_a_connection_is_taken_over_only_with_the_scopes_of_the_work_of_a_crm(shop: Shop):
    creator = await add_creator(shop.services, shop.account.account_id, "key")
    id = await connect(shop, creator)
    await end_creator(shop.services, creator)
    sending = Actor(shop.account.account_id, frozenset(integrations.SENDING), "test")

    with pytest.raises(InsufficientScope):
        async with open_unit(shop.services.database.sessions, sending, shop.clock, shop.services.notify) as unit:
            await integrations.resume(unit, shop.ports.integrations, id)
