"""Paused numbers: no new text is accepted from them."""

import pytest

from app.domain.campaigns.senders import Senders
from app.domain.carriers.carrier import InboundMessage
from app.domain.kernel.errors import Conflict, NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.errors import NoSender
from app.domain.messages.requests import Send
from app.domain.numbers import queries, service
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.domain.messages.handing import hand_over
from tests.factories.carriers import add_smpp_connection
from tests.factories.messages import MESSAGES, OUTBOUND
from tests.factories.numbers import PHONE_NUMBERS

pytestmark = pytest.mark.anyio

PHONE = "+12025550143"


async def send(services: Services, account: Opened, number_id: int | None = None) -> None:
    actor = Actor(account.account_id, frozenset(), "test")
    await services.acceptor.accept(actor, Send(PHONE, "Hi", consent_attested=True, from_phone_number_id=number_id))


async def pause(unit_for: UnitFor, account: Opened, *ids: int, paused: bool = True) -> None:
    for id in ids:
        async with unit_for(account) as unit:
            await service.set_paused(unit, id, paused=paused)


async def test_another_number_takes_the_place_of_a_paused_one(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    async with unit_for(account) as unit:
        other = await service.assign_sandbox_number(unit)
    await send(services, account)

    await pause(unit_for, account, account.phone_number_id)
    await send(services, account)
    primary = await PHONE_NUMBERS.where(is_primary=True).only(services, "id")
    async with services.database.pool.acquire() as connection:
        senders = await Senders.read(connection, account.account_id, 0, None)
        forced = await Senders.read(connection, account.account_id, 0, account.phone_number_id)
    await pause(unit_for, account, account.phone_number_id, paused=False)
    await send(services, account, account.phone_number_id)

    numbers = [account.phone_number, other.phone_number, account.phone_number]
    assert await OUTBOUND.read(services, "from_number") == numbers
    assert (primary, [*senders.numbers], [*forced.numbers]) == (other.id, [other.phone_number], [])


async def test_a_text_that_names_a_paused_number_or_finds_no_other_is_refused(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await pause(unit_for, account, account.phone_number_id)

    with pytest.raises(NotFound, match="active phone number"):
        await send(services, account, account.phone_number_id)
    with pytest.raises(NoSender):
        await send(services, account)

    assert await MESSAGES.count(services) == 0


async def test_no_number_of_the_sandbox_takes_the_place_of_a_paused_one_at_a_carrier(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await add_smpp_connection(services, "real")
    real = {"account_id": account.account_id, "phone_number": "+12025550199", "label": "Real", "carrier": "real"}
    id = await PHONE_NUMBERS.insert(services, **real)
    async with unit_for(account) as unit:
        await service.keep_primary(unit)
    await pause(unit_for, account, id)

    with pytest.raises(NoSender):
        await send(services, account)
    refused = await OUTBOUND.count(services)
    await send(services, account, account.phone_number_id)

    assert refused == 0
    assert await OUTBOUND.read(services, "from_number") == [account.phone_number]
    async with unit_for(account) as unit:
        assert await queries.list_usual(unit) == []


async def test_accepted_texts_leave_from_a_paused_number_and_texts_come_in(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    await send(services, account)

    await pause(unit_for, account, account.phone_number_id)
    await hand_over(services.handoff)
    await services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, account.phone_number, "Hello"))
    await services.inbox.receive("sandbox", InboundMessage("in-2", PHONE, account.phone_number, "STOP"))
    await hand_over(services.handoff)

    found = [(each, number) for each, number in await OUTBOUND.read(services, "status", "from_number")]
    assert found == [("sent", account.phone_number)] * 2
    assert await MESSAGES.where(direction="inbound").read(services, "body") == ["Hello", "STOP"]


async def test_a_paused_number_is_listed_and_cannot_become_the_primary_one(account: Opened, unit_for: UnitFor) -> None:
    await pause(unit_for, account, account.phone_number_id)

    async with unit_for(account) as unit:
        with pytest.raises(Conflict, match="The number is paused"):
            await service.set_primary(unit, account.phone_number_id)
        assert [each.is_paused for each in await queries.list_active(unit)] == [True]
        with pytest.raises(NotFound):
            await service.set_paused(unit, 999999999, paused=True)
