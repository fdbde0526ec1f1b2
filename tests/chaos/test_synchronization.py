"""The first synchronization of 100,000 contacts, whose worker is killed in its middle."""

import sys
import time
from pathlib import Path

import pytest

from app.domain.contacts import service as contacts
from tests.chaos.connectors import UNSETTLED, Exchange, exchange
from tests.conftest import unit_of
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_CONNECTIONS, CRM_LINKS
from tests.factories.tables import Rows
from tests.waiting import until

pytestmark = pytest.mark.anyio

THERE = [f"+1202{number}" for number in range(2_000_000, 2_100_000)]
HERE = [f"+1202{number}" for number in range(3_000_000, 3_000_050)]
KILLED_AT = 40_000
SECONDS = 1200

UNLIKE = """
SELECT count(*) FROM crm_links l LEFT JOIN contacts c ON c.id = l.contact_id
WHERE c.phone IS DISTINCT FROM l.fields ->> 'phone'
"""


async def test_a_synchronization_goes_on_after_the_death_of_its_worker_and_links_each_contact_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    async with exchange(tmp_path, seed=20_261_124, people=THERE) as exchanged:
        weather, pool = exchanged.weather, exchanged.weather.pool
        connected = time.monotonic()
        async with unit_of(weather.services, exchanged.actor) as unit:
            for phone in HERE:
                await contacts.create(unit, {"phone": phone})
        half, middle = await fetch_until(exchanged, KILLED_AT), time.monotonic()
        for worker in weather.workers:
            worker.kill()
        dead = await CRM_CONNECTIONS.only(pool, "fetched", "offered", "total")
        weather.workers = [weather.start("worker")]
        await fetch_until(exchanged, dead["fetched"] + 1)
        resumed = time.monotonic()
        await fetch_until(exchanged, len(THERE))
        fetched = time.monotonic()
        await weather.settle(UNSETTLED, SECONDS)

        pages = exchanged.peer.calls.count("POST /contacts/search")
        rate = half / (middle - connected), (len(THERE) - dead["fetched"]) / (fetched - resumed)
        with capsys.disabled():
            sys.stdout.write(f"\n{len(THERE):,} contacts, {pages} pages, killed at {dead['fetched']:,}, ")
            sys.stdout.write(
                f"resumed after {resumed - middle:.1f} s; {rate[0]:.0f} and {rate[1]:.0f} contacts a second; "
            )
            sys.stdout.write(f"{time.monotonic() - begun:.0f} s in all\n")
        await check(exchanged)
        assert tuple(dead)[1:] == (0, len(THERE))


async def check(exchanged: Exchange) -> None:
    """Fail unless each contact of both sides is linked once, with one event, and the progress says so."""
    pool, everybody = exchanged.weather.pool, {*THERE, *HERE}
    progress = await CRM_CONNECTIONS.only(pool, "sync", "fetched", "offered", "total", "error")
    assert tuple(progress) == ("done", *[len(everybody)] * 3, "")  # the CRM's list has those of here by then
    assert sorted(await CRM_LINKS.read(pool, "external_id")) == sorted(exchanged.peer.contacts)
    assert await pool.fetchval(UNLIKE) == 0
    assert {each["phone"] for each in exchanged.peer.contacts.values()} == everybody
    assert set(await CONTACTS.read(pool, "phone")) == everybody
    assert await Rows("events").where(name="new_contact").count(pool) == len(everybody)


async def fetch_until(exchanged: Exchange, most: int) -> int:
    """Wait until so many contacts were fetched; return the number, which never falls."""
    seen = [0]

    async def is_fetched() -> bool:
        seen.append(await CRM_CONNECTIONS.only(exchanged.weather.pool, "fetched"))
        assert seen[-1] >= seen[-2]
        return seen[-1] >= most

    await until(is_fetched, SECONDS, every=0.2)
    return seen[-1]
