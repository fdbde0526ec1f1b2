"""Connections to CRMs: authorization, tokens, health, and the end."""

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.contacts import service as contacts
from app.domain.crm import queries, service
from app.domain.crm.errors import CrmAuthorizationRefused
from app.domain.crm.session import REFRESHES
from app.domain.integrations import service as integrations
from app.domain.kernel.errors import Conflict, InsufficientScope, InvalidInput, NotFound, Unavailable
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor, open_unit
from tests.domain.crm.conftest import Shop, connected_to
from tests.domain.erasure.deletions import ask, deletions, run_out
from tests.factories.crm import CRM_CONNECTIONS, CRM_LINKS, CRM_PUSHES, CRM_SENDS
from tests.factories.integrations import INTEGRATION_EVENTS, INTEGRATIONS
from tests.factories.messages import OUTBOUND
from tests.peers.highlevel import Fault, HighLevelPeer, serving
from tests.waiting import until

pytestmark = pytest.mark.anyio


async def test_an_authorization_gives_a_connection_with_sealed_tokens(shop: Shop) -> None:
    await shop.connect()

    [tokens, location, state, expires_at] = await shop.state("tokens", "location", "state", "expires_at")
    assert (location, state, expires_at) == ("loc1", "authorized", shop.clock.now() + timedelta(seconds=86399))
    assert b"access" not in tokens
    assert service.unpack(shop.ports.seal, tokens).location == "loc1"
    assert await INTEGRATIONS.only(shop.services, "kind", "name", "address") == (
        "highlevel",
        "HighLevel",
        "location:loc1",
    )


async def test_an_authorization_is_refused_to_another_account_after_10_minutes_and_with_another_verifier(
    shop: Shop, new_account
) -> None:
    other = Actor((await new_account()).account_id, shop.actor.scopes, "test")
    async with shop.unit() as unit:
        given = shop.peer.authorize(service.begin(unit, shop.ports, shop.peer.kind))
        with pytest.raises(InvalidInput):
            service.begin(unit, shop.ports, "unknown")

    async with open_unit(shop.services.database.sessions, other, shop.clock, shop.services.notify) as unit:
        with pytest.raises(CrmAuthorizationRefused):
            await service.finish(unit, shop.ports, **given)
    async with shop.unit() as unit:
        for state in ("", "AAAA", given["state"][:-4] + "AAAA"):
            with pytest.raises(CrmAuthorizationRefused):
                await service.finish(unit, shop.ports, state, given["code"])
        stolen = shop.peer.authorize(service.begin(unit, shop.ports, shop.peer.kind))
        with pytest.raises(CrmAuthorizationRefused):  # the code of another authorization: PKCE
            await service.finish(unit, shop.ports, given["state"], stolen["code"])
    shop.move(minutes=10, seconds=1)
    async with shop.unit() as unit:
        with pytest.raises(CrmAuthorizationRefused):
            await service.finish(unit, shop.ports, **given)
    assert await CRM_CONNECTIONS.count(shop.services) == 0


async def test_an_actor_connects_a_crm_only_with_the_scopes_of_all_that_the_crm_will_do(shop: Shop) -> None:
    for scope in ("contacts:read", "contacts:write", "messages:read", "messages:send"):
        async with shop.unit() as unit:
            given = shop.peer.authorize(service.begin(unit, shop.ports, shop.peer.kind))
            unit.actor = Actor(shop.account.account_id, shop.actor.scopes - {scope}, "test")
            with pytest.raises(InsufficientScope):
                service.begin(unit, shop.ports, shop.peer.kind)
            with pytest.raises(InsufficientScope):
                await service.finish(unit, shop.ports, **given)

    assert await CRM_CONNECTIONS.count(shop.services) == 0


async def test_a_crm_that_is_away_during_an_authorization_is_unavailable(shop: Shop) -> None:
    async with shop.unit() as unit:
        given = shop.peer.authorize(service.begin(unit, shop.ports, shop.peer.kind))
        shop.peer.faults.append(Fault(500))
        with pytest.raises(Unavailable):
            await service.finish(unit, shop.ports, **given)

        await service.finish(unit, shop.ports, **given)


async def test_a_sub_account_is_connected_to_one_account_and_again_only_with_new_tokens(
    shop: Shop, new_account
) -> None:
    first = await shop.connect()
    before = await shop.state("tokens")

    assert await shop.connect() == first
    assert await shop.state("tokens") != before
    other = Actor((await new_account()).account_id, shop.actor.scopes, "test")
    with pytest.raises(Conflict):
        async with open_unit(shop.services.database.sessions, other, shop.clock, shop.services.notify) as unit:
            await service.finish(
                unit, shop.ports, **shop.peer.authorize(service.begin(unit, shop.ports, shop.peer.kind))
            )
    assert await CRM_CONNECTIONS.count(shop.services) == 1


async def test_tokens_are_renewed_before_they_expire_and_once_by_workers_at_the_same_time(shop: Shop) -> None:
    await shop.connect()
    await shop.work()
    shop.peer.calls.clear()
    shop.move(hours=23, minutes=56)

    await asyncio.gather(shop.worker.run(), shop.worker.run(), shop.worker.run())
    await shop.worker.idle()

    assert shop.peer.calls.count("POST /oauth/token") == 1
    assert (await shop.state("state"), await shop.state("error")) == ("authorized", "")
    assert await shop.state("expires_at") == shop.clock.now() + timedelta(seconds=86399)


@pytest.mark.parametrize(
    ("told", "seconds"), [(10**18, 366 * 24 * 3600), ("9" * 900, 366 * 24 * 3600), (3600.5, 3600), ("soon", 24 * 3600)]
)
async def test_tokens_with_a_strange_time_are_stored_when_they_are_given_and_when_they_are_renewed(
    shop: Shop, told: object, seconds: int
) -> None:
    shop.peer.token_seconds = told
    await shop.connect()
    shop.peer.expire_tokens()

    await shop.settle()

    assert (await shop.state("state"), await shop.state("error")) == ("authorized", "")
    assert await shop.state("expires_at") == shop.clock.now() + timedelta(seconds=seconds)


@pytest.mark.parametrize("token", ["a\r\nhost: x", "\u00e9", "x" * 20_000, ["a"], None])
async def test_a_token_that_cannot_be_sent_is_refused(shop: Shop, token: object) -> None:
    given = {"access_token": token, "refresh_token": "r", "expires_in": 60, "locationId": "loc1"}
    shop.peer.faults.append(Fault(200, content=json.dumps(given).encode()))

    with pytest.raises(CrmAuthorizationRefused):
        await shop.connect()


async def test_a_turn_with_a_slow_crm_ends_after_two_minutes(shop: Shop) -> None:
    await shop.connect()
    await shop.work()
    for number in range(30):
        await shop.add(f"+1202555{1000 + number}")
    leased_at, times = shop.clock.now(), list[timedelta]()

    async def pass_time() -> None:
        shop.move(seconds=9)
        times.append(shop.clock.now() - leased_at)

    shop.peer.on_call = pass_time
    await shop.worker.run()
    await shop.worker.idle()

    assert timedelta(minutes=2) <= max(times) < timedelta(minutes=3)
    shop.peer.on_call = lambda: asyncio.sleep(0)
    await shop.settle()
    assert len(shop.peer.contacts) == 30


async def test_tokens_that_end_under_way_are_renewed_and_the_call_is_repeated(shop: Shop) -> None:
    await shop.connect()
    shop.peer.expire_tokens()

    await shop.work()

    assert shop.peer.calls[1:4] == ["POST /contacts/search", "POST /oauth/token", "POST /contacts/search"]
    assert await shop.state("state", "sync") == ("authorized", "done")


async def test_tokens_that_end_as_soon_as_they_are_given_are_renewed_once_more(shop: Shop) -> None:
    await shop.connect()
    expired = list[str]()

    async def expire() -> None:
        if shop.peer.calls[-1] == "POST /contacts/search" and len(expired) < 2:
            expired.append(shop.peer.calls[-1])
            shop.peer.expire_tokens()

    shop.peer.on_call = expire
    await shop.work()

    search, refresh = "POST /contacts/search", "POST /oauth/token"
    assert shop.peer.calls[1:6] == [search, refresh, search, refresh, search]
    assert await shop.state("state", "sync") == ("authorized", "done")


async def test_a_connection_whose_new_tokens_are_refused_again_and_again_is_lost(shop: Shop) -> None:
    await shop.connect()

    async def expire() -> None:
        shop.peer.expire_tokens()

    shop.peer.on_call = expire
    await shop.work()

    assert shop.peer.calls.count("POST /oauth/token") == 1 + REFRESHES
    assert await shop.state("state", "error") == ("lost", "The CRM answered 401: Invalid JWT.")


async def test_a_withdrawn_authorization_is_shown_and_ends_the_calls_until_it_is_given_again(shop: Shop) -> None:
    await shop.connect()
    shop.peer.uninstall()

    await shop.work()

    state, error = await shop.state("state", "error")
    assert state == "lost"
    assert error == "The CRM answered 400: Invalid grant: refresh token is invalid."
    assert not await shop.worker.due()
    await shop.connect()
    await shop.work()
    assert await shop.state("state", "sync", "error") == ("authorized", "done", "")


async def test_a_crm_is_left_alone_for_the_time_it_asks_for_and_longer_after_each_failure(shop: Shop) -> None:
    await shop.connect()
    rests = []
    for fault in (Fault(429, retry_after=30), Fault(500), Fault(503), Fault(502)):
        shop.peer.faults.append(fault)
        await shop.work()
        until = await shop.state("resting_until")
        rests.append((until - shop.clock.now()).total_seconds())
        shop.clock.instant = until
    await shop.work()

    assert rests == [30, 15, 60, 300]
    assert await shop.state("resting_until", "failures", "sync") == (None, 0, "done")


async def test_a_synchronization_that_reaches_the_limit_of_the_crm_goes_on_after_each_rest(shop: Shop) -> None:
    for number in range(8):
        await shop.add(f"+1202555{1000 + number}")
    shop.peer.limit.most = 5
    await shop.connect()
    rests = 0
    for _ in range(12):
        await shop.work()
        rests += await shop.state("resting_until") is not None
        shop.move(minutes=1)

    assert rests > 1
    assert len(shop.peer.contacts) == 8
    assert await shop.state("sync", "state") == ("done", "authorized")
    assert await CRM_PUSHES.where_not(status="done").count(shop.services) == 0


async def test_a_paused_connection_makes_no_calls_and_a_resumed_one_catches_up(shop: Shop) -> None:
    await shop.connect()
    async with shop.unit() as unit:
        await integrations.pause(unit, shop.integration_id)
    shop.peer.calls.clear()

    await shop.work()
    assert shop.peer.calls == []

    async with shop.unit() as unit:
        await integrations.resume(unit, shop.ports.integrations, shop.integration_id)
    await shop.work()
    assert shop.peer.calls == ["POST /contacts/search"]


async def test_a_removed_connection_is_revoked_at_the_crm_and_then_forgotten(shop: Shop) -> None:
    await shop.connect()
    await shop.work()
    async with shop.unit() as unit:
        await integrations.remove(unit, shop.ports.integrations, shop.integration_id)
    shop.peer.faults.append(Fault(500))

    await shop.work()
    assert shop.peer.is_installed
    shop.move(seconds=60)
    await shop.work()

    assert not shop.peer.is_installed
    assert await CRM_CONNECTIONS.count(shop.services) == 0


async def test_a_removed_connection_leaves_all_lists_and_can_be_made_again_at_once(shop: Shop) -> None:
    former = await shop.connect()
    shop.peer.add(phone="+12025550144", email="no address")
    await shop.work()
    push = await CRM_PUSHES.where(integration_id=former).last(shop.services, "id")
    async with shop.unit() as unit:
        await integrations.remove(unit, shop.ports.integrations, former)

    async with shop.unit() as unit:
        assert await queries.list_own(unit) == []
        assert (await queries.find_pushes(unit, None, None, Window())).nodes == []
        with pytest.raises(NotFound):
            await service.replay(unit, push)
    assert await CRM_LINKS.where(integration_id=former).count(shop.services) == 1
    assert await shop.connect() != former
    await shop.work()

    assert [await table.where(integration_id=former).count(shop.services) for table in (CRM_LINKS, CRM_PUSHES)] == [
        0,
        0,
    ]
    assert await CRM_LINKS.count(shop.services) == 1
    assert await INTEGRATIONS.read(shop.services, "id") == [shop.integration_id]
    assert shop.peer.is_installed


async def test_a_text_that_the_crm_repeats_after_its_connection_was_removed_and_made_again_is_not_sent_again(
    shop: Shop,
) -> None:
    former = await shop.connect()
    contact = shop.peer.add(phone="+12025550143")
    await shop.settle()
    asked = shop.peer.write(contact, "Hello from the CRM", "msg-1")
    await shop.deliver(asked)
    await shop.settle()
    async with shop.unit() as unit:
        await integrations.remove(unit, shop.ports.integrations, former)
    await shop.settle()

    assert await shop.connect() != former
    await shop.deliver(asked)
    await shop.write(contact, "Another one", "msg-2")

    assert sorted(await OUTBOUND.read(shop.services, "body")) == ["Another one", "Hello from the CRM"]
    assert await CRM_SENDS.read(shop.services, "external_id", "status") == [("msg-1", "sent"), ("msg-2", "sent")]


@pytest.mark.parametrize("is_away", [False, True])
async def test_a_deleted_account_is_revoked_at_the_crm_and_a_crm_that_is_away_does_not_keep_its_tokens_here(
    shop: Shop, is_away: bool
) -> None:
    await shop.connect()
    await shop.work()
    await ask(shop.services, shop.account.account_id)
    await run_out(deletions(shop.services, minutes=2))
    if is_away:
        shop.peer.faults.extend([Fault(500)] * 9)

    shop.move(minutes=3)
    await shop.work()
    assert shop.peer.is_installed is is_away
    assert await CRM_CONNECTIONS.count(shop.services) == is_away
    await run_out(deletions(shop.services, hours=2))

    assert await CRM_CONNECTIONS.count(shop.services) == 0


async def test_a_notice_for_an_account_that_is_not_connected_is_refused(shop: Shop) -> None:
    await shop.connect()

    for body in (b"", b"[]", b'{"locationId": "loc2", "type": "ContactUpdate", "id": "contact1"}'):
        with pytest.raises(NotFound):
            await shop.deliver(shop.peer.sign_bytes(body))
    assert await INTEGRATION_EVENTS.count(shop.services) == 0


async def test_the_secret_of_a_crm_cannot_be_rotated(shop: Shop) -> None:
    await shop.connect()

    async with shop.unit() as unit:
        with pytest.raises(Conflict):
            await integrations.rotate(unit, shop.ports.integrations, shop.integration_id, "another secret", 24)


async def test_a_crm_that_never_answers_delays_the_pushes_of_no_other(shop: Shop, new_account) -> None:
    await shop.connect()
    peer = HighLevelPeer(clock=shop.clock.now, location="loc2", key=shop.peer.key)
    async with serving(peer) as url:
        ports = connected_to(shop.services, peer, url)
        other: Any = ports.connectors["highlevel"]
        both = {"highlevel": shop.ports.connectors["highlevel"], "other": replace(other, name="other")}
        all_ports = replace(shop.ports, connectors=both)
        actor = Actor((await new_account()).account_id, shop.actor.scopes, "test")
        async with open_unit(shop.services.database.sessions, actor, shop.clock, shop.services.notify) as unit:
            given = peer.authorize(service.begin(unit, all_ports, "other"))
            await service.finish(unit, all_ports, **given)
            await contacts.create(unit, {"phone": "+12025550199"})
        shop.peer.faults.append(Fault(None))
        worker = replace(shop.worker, ports=all_ports)

        await worker.run()
        await until(lambda: _is_done(shop))
        await worker.run()
        await until(lambda: peer.contacts)

        assert await CRM_CONNECTIONS.where(location="loc1").only(shop.services, "sync") == "fetching"
        await worker.abandon()


async def _is_done(shop: Shop) -> bool:
    return await CRM_CONNECTIONS.where(location="loc2").only(shop.services, "sync") == "done"
