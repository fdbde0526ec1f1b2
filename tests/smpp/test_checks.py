"""The check of a login, while another process holds the lease of the connection."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from app.bootstrap import smpp
from app.db.engine import Pool
from app.domain.carriers.carrier import CarrierAccount
from app.providers.carriers.smpp import connection
from app.providers.carriers.smpp.leases import BEGINNING, Lease
from tests.smpp.lines import KEY, Line
from tests.waiting import within

pytestmark = pytest.mark.anyio


@pytest.fixture
async def check(line: Line) -> Callable[[], Awaitable[CarrierAccount]]:
    """Provide the check of the connection."""
    opened = await replace(line.services.connections, role=smpp.ROLE).get(KEY)
    assert opened
    return opened.carrier.check


@pytest.fixture
async def lease(pool: Pool) -> Lease:
    """Provide a lease that another process has just taken."""
    lease = Lease(pool, KEY, "another process", 3600)
    assert await lease.acquire(BEGINNING)
    return lease


async def test_a_check_waits_for_the_process_that_has_just_begun_to_bind(
    check: Callable[[], Awaitable[CarrierAccount]], lease: Lease, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "CHECK_SECONDS", 100.0)
    checking = asyncio.ensure_future(check())
    await asyncio.wait({checking}, timeout=0.5)
    assert not checking.done()

    await lease.acquire("")

    assert (await within("the check", checking)).facts["bound"] == "by a process of the role smpp"


async def test_a_check_tells_the_problem_of_the_bind_of_another_process(
    check: Callable[[], Awaitable[CarrierAccount]], lease: Lease
):
    await lease.acquire("the bind was refused")

    with pytest.raises(ConnectionError, match=r"^the bind was refused$"):
        await check()


async def test_a_check_waits_no_longer_than_a_bind_may_take(
    check: Callable[[], Awaitable[CarrierAccount]], lease: Lease, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "CHECK_SECONDS", 0.2)

    with pytest.raises(ConnectionError, match=r"^not connected yet$"):
        await check()
