"""The check of a login, and of new credentials, while another process holds the lease of the connection."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import orjson
import pytest

from app.bootstrap import smpp
from app.db.engine import Pool
from app.domain.carriers import queries, service
from app.domain.carriers.carrier import CarrierAccount
from app.domain.carriers.errors import CarrierConnectionRefused
from app.domain.carriers.service import Ports
from app.domain.kernel.unit_of_work import Actor
from app.providers.carriers.smpp import connection
from app.providers.carriers.smpp.leases import BEGINNING, Lease
from app.providers.carriers.smpp.statuses import Status
from app.providers.registry import KINDS
from tests.conftest import unit_of
from tests.factories.carriers import CONNECTIONS
from tests.smpp.lines import KEY, LEASES, Line
from tests.smpp.smscs import LOGIN, Smsc
from tests.waiting import within

pytestmark = pytest.mark.anyio

Rotate = Callable[[str], Awaitable[CarrierAccount]]


@pytest.fixture
async def check(line: Line) -> Callable[[], Awaitable[CarrierAccount]]:
    """Provide the check of the connection."""
    opened = await replace(line.services.connections, role=smpp.ROLE).get(KEY)
    assert opened
    return opened.carrier.check


@pytest.fixture
def rotate(line: Line) -> Rotate:
    """Provide a function that replaces the password, as the operator does."""
    ports = Ports(KINDS, line.services.connections)

    async def rotate(password: str) -> CarrierAccount:
        credentials = {"system_id": LOGIN.system_id, "password": password}
        async with unit_of(line.services, Actor(0, frozenset(), "command line")) as unit:
            known = await queries.get_any(unit, KEY)
            return (await service.rotate(unit, ports, known, credentials, overlap_hours=0)).account

    return rotate


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


async def test_new_credentials_are_checked_by_a_bind_although_the_smsc_refuses_the_former_ones(
    rotate: Rotate, line: Line, smsc: Smsc, lease: Lease
):
    await lease.acquire("the SMSC refused the bind: ESME status 0x0E")

    account = await rotate(LOGIN.password)

    [bind] = smsc.all("bind")
    assert (account.name, account.facts["bound"]) == (LOGIN.system_id, "by this check")
    assert (bind["system_id"], bind["status"]) == (LOGIN.system_id, Status.ok)
    assert await password(line) == LOGIN.password


async def test_new_credentials_that_the_smsc_refuses_are_not_stored_although_the_former_ones_are_bound(
    rotate: Rotate, line: Line, smsc: Smsc, lease: Lease
):
    await lease.acquire("")
    before = await CONNECTIONS.texts(line.services)

    with pytest.raises(CarrierConnectionRefused, match="0x0E"):
        await rotate("mistyped")

    assert await CONNECTIONS.texts(line.services) == before
    assert await LEASES.only(line.services, "holder", "problem") == ("another process", "")


async def test_new_credentials_are_stored_where_the_smsc_allows_no_session_beside_the_one_that_is_bound(
    rotate: Rotate, line: Line, smsc: Smsc, lease: Lease
):
    await lease.acquire("")
    smsc.command("refuse", status=Status.already_bound)

    account = await rotate("changed12")

    assert account.facts["bound"] == "by a process of the role smpp"
    assert await password(line) == "changed12"


async def test_a_second_session_that_the_smsc_refuses_is_a_refusal_while_no_process_is_bound(
    rotate: Rotate, line: Line, smsc: Smsc, lease: Lease
):
    await lease.acquire("the SMSC refused the bind: ESME status 0x05")
    smsc.command("refuse", status=Status.already_bound)

    with pytest.raises(CarrierConnectionRefused, match="0x05"):
        await rotate("changed12")

    assert await password(line) == LOGIN.password


async def password(line: Line) -> str:
    """Return the stored password."""
    sealed = await CONNECTIONS.where(key=KEY).only(line.services, "credentials")
    return orjson.loads(line.services.connections.seal.open(sealed))["password"]
