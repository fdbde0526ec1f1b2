"""Rate limits of client registrations: for each network, and in total."""

import pytest
from starlette.requests import Request

from app.domain.grants.retention import make_rules
from app.domain.kernel.errors import RateLimited
from app.jobs.sweeps import purge
from app.providers.shares import Shares
from app.services import Services
from app.web.oauth.registration_limit import REGISTRATIONS, TOTAL, check_rate
from tests.factories.oauth import OAUTH_CLIENTS, add_clients
from tests.factories.tables import ago
from tests.oauth.applications import Application

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("no_refill")]

HOME = "127.0.0.1"


async def bring(services: Services, address: str, count: int = 1) -> int:
    """Bring clients from an address until it is refused one; return how many were taken."""
    for taken in range(count):
        try:
            await check_rate(services, Request({"type": "http", "client": (address, 1)}))
        except RateLimited:
            return taken
    return count


async def test_an_address_brings_twenty_and_its_network_has_four_times_as_many_in_all(services: Services) -> None:
    assert await bring(services, "192.0.2.1", 25) == REGISTRATIONS.quota
    assert 1 <= await bring(services, "192.0.2.2", 25) < REGISTRATIONS.quota


@pytest.mark.parametrize("attackers", [1, 4, 12, 50])
async def test_a_flood_from_many_networks_leaves_room_for_others(services: Services, attackers: int) -> None:
    for turn in range(100):
        for number in range(attackers):
            await bring(services, f"2001:db8:{number:x}:{turn:x}::1")

    assert await bring(services, "2001:db8:ffff::1") == 1
    assert await bring(services, "192.0.2.1") == 1


async def test_a_flood_from_more_networks_than_all_may_bring_holds_up_no_known_network(
    services: Services, application: Application
) -> None:
    await application.connect()
    taken = [await bring(services, f"10.0.{number}.1") for number in range(TOTAL + 20)]
    assert sum(taken) == TOTAL
    assert await bring(services, "192.0.2.1") == 0

    assert await bring(services, HOME, 5) == 5


async def test_the_prefixes_of_one_customer_have_one_share_and_leave_the_neighbours_theirs(services: Services) -> None:
    async def take(address: str) -> bool:
        return not await services.limits.shares.take(REGISTRATIONS, address)

    taken = [await take(f"2001:db8:1:{number:x}::1") for number in range(120)]

    assert taken == [True] * 80 + [False] * 40
    assert await take("2001:db8:1:ff00::1")


async def test_without_redis_each_process_keeps_the_share_of_a_network() -> None:
    shares = Shares("redis://127.0.0.1:1")

    waits = [await shares.take(REGISTRATIONS, HOME, total=TOTAL) for _ in range(REGISTRATIONS.quota + 1)]
    elsewhere = await shares.take(REGISTRATIONS, "192.0.2.1", total=TOTAL)
    await shares.note_known(HOME)
    await shares.close()

    assert [wait > 0 for wait in waits] == [False] * REGISTRATIONS.quota + [True]
    assert elsewhere == 0


async def test_of_clients_that_were_never_used_only_the_newest_are_kept(
    services: Services, application: Application
) -> None:
    pool = services.database.pool
    await add_clients(services, None, 6, kind="registered")
    registered = OAUTH_CLIENTS.where(kind="registered")
    for number in range(1, 6):
        await OAUTH_CLIENTS.where(client_id=str(number)).change(pool, created_at=ago(hours=7 - number))
    await OAUTH_CLIENTS.where(client_id="1").change(pool, last_used_at=ago())

    await purge("oauth", make_rules(max_unused=3), services.database, services.clock).run()

    assert {*await registered.read(pool, "client_id")} == {"1", "4", "5", "6"}
    assert await OAUTH_CLIENTS.where(client_id=application.client_id).count(pool) == 1


async def test_clients_of_the_last_hour_are_kept_however_many_there_are(services: Services) -> None:
    await add_clients(services, None, 6, kind="registered")

    await purge("oauth", make_rules(max_unused=3), services.database, services.clock).run()

    assert await OAUTH_CLIENTS.count(services) == 6
