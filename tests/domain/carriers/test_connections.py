"""Open connections follow the table: added, changed, rotated and removed ones."""

import asyncio

import orjson
import pytest

from app.db.engine import Pool
from app.domain.carriers.carrier import Carrier, ConnectionRefused
from app.domain.carriers.connections import LOAD, OpenConnections
from app.domain.carriers.kinds import Configuration
from app.domain.carriers.unusable import UnusableCarrier
from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import Seal
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.services import Services
from tests.factories.carriers import CONNECTIONS, add_connection, change_connection
from tests.factories.clocks import Moving
from tests.factories.tables import ahead
from tests.factories.traps import VisitedPool
from tests.waiting import within


class Closing(SandboxCarrier):
    """A carrier that tells whether it was closed."""

    is_closed = False

    async def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def pool(services: Services) -> Pool:
    """Provide the database pool."""
    return services.database.pool


@pytest.fixture
def seal() -> Seal:
    """Provide the seal of the credentials."""
    return Seal(b"k" * 32)


@pytest.fixture
def connections(pool: Pool, seal: Seal) -> OpenConnections:
    """Provide the connections of a process."""

    def open(configuration: Configuration) -> Carrier:
        carrier = Closing(pool, configuration.credentials.get("secret", "").encode(), 0, 10)
        carrier.key = configuration.key
        return carrier

    return OpenConnections(pool, Clock(), seal, open)


def carrier_of(connections: OpenConnections, key: str) -> Closing:
    connection = connections.find(key)
    assert connection
    assert isinstance(connection.carrier, Closing)
    return connection.carrier


async def test_a_new_installation_has_a_connection_to_the_sandbox(connections: OpenConnections) -> None:
    sandbox = await connections.get("sandbox")

    assert sandbox
    assert (sandbox.row.kind, sandbox.row.account_id, sandbox.row.status) == ("sandbox", None, "active")


async def test_a_connection_that_another_process_adds_is_known_at_the_next_refresh(
    connections: OpenConnections, pool: Pool
) -> None:
    await connections.refresh()
    await add_connection(pool, "second")

    before = await connections.get("second")
    await connections.learn(["sandbox", "second"])

    assert before is None
    assert carrier_of(connections, "second").key == "second"


async def test_an_answer_that_comes_late_does_not_replace_a_later_one(connections: OpenConnections, pool: Pool) -> None:
    loaded, goes_on = asyncio.Event(), asyncio.Event()

    async def visit(query: str, is_after: bool) -> None:
        if query == LOAD and is_after:
            loaded.set()
            await within("the later answer", goes_on.wait())

    await connections.refresh()
    await add_connection(pool, "second")
    async with VisitedPool(pool, visit).acquire() as slow, pool.acquire() as quick:
        late = asyncio.create_task(connections.refresh_on(slow, anew=True))
        await within("the first answer", loaded.wait())
        await change_connection(pool, "second", status="paused")
        await connections.refresh_on(quick, anew=True)
        goes_on.set()
        await late

    second = connections.find("second")
    assert second
    assert second.row.status == "paused"


async def test_a_refresh_leaves_connections_open_that_have_not_changed(
    connections: OpenConnections, pool: Pool
) -> None:
    await connections.refresh()
    sandbox = connections.find("sandbox")
    await add_connection(pool, "second")

    await connections.refresh(anew=True)

    assert connections.find("sandbox") is sandbox


async def test_a_removed_connection_is_closed_when_the_calls_in_flight_have_ended(
    connections: OpenConnections, pool: Pool
) -> None:
    await add_connection(pool, "second")
    await connections.refresh()
    removed, connection = carrier_of(connections, "second"), connections.find("second")
    assert connection

    async with connection:
        await CONNECTIONS.where(key="second").delete(pool)
        await connections.refresh(anew=True)
        during = removed.is_closed

    assert (during, removed.is_closed) == (False, True)
    assert connections.find("second") is None


async def test_a_changed_connection_is_opened_again_and_the_former_one_closed(
    connections: OpenConnections, pool: Pool, seal: Seal
) -> None:
    await connections.refresh()
    before = carrier_of(connections, "sandbox")
    await change_connection(pool, "sandbox", credentials=seal.close(orjson.dumps({"secret": "new"}).decode()))

    await connections.refresh(anew=True)

    assert (before.is_closed, carrier_of(connections, "sandbox").secret) == (True, b"new")


async def test_callbacks_are_verified_with_the_former_credentials_until_their_time_is_over(
    connections: OpenConnections, pool: Pool, seal: Seal
) -> None:
    clock = Moving()
    former, new = (seal.close(orjson.dumps({"secret": secret}).decode()) for secret in ("former", "new"))
    rotated = {"credentials": new, "previous_credentials": former, "previous_until": ahead(hours=1)}
    await change_connection(pool, "sandbox", **rotated)
    await connections.refresh()
    connection = connections.find("sandbox")
    assert connection

    def secrets() -> list[bytes]:
        return [each.secret for each in connection.verifiers(clock.now()) if isinstance(each, Closing)]

    during = secrets()
    clock.move(hours=2)

    assert (during, secrets()) == ([b"new", b"former"], [b"new"])


async def test_many_uses_at_once_ask_the_table_once(connections: OpenConnections, pool: Pool) -> None:
    await asyncio.gather(*(connections.refresh() for _ in range(20)))
    state = connections._state
    await add_connection(pool, "second")

    await connections.refresh()

    assert connections._state == state
    assert connections.find("second") is None


async def test_a_connection_whose_credentials_cannot_be_read_is_unusable_and_reported_once(
    connections: OpenConnections, pool: Pool
) -> None:
    told: list[str] = []
    loop = asyncio.get_running_loop()
    handler = loop.get_exception_handler()
    loop.set_exception_handler(lambda _, context: told.append(context["message"]))
    await change_connection(pool, "sandbox", credentials=b"sealed with another secret key")

    await connections.refresh()
    await add_connection(pool, "second")
    await connections.refresh(anew=True)
    loop.set_exception_handler(handler)

    sandbox = connections.find("sandbox")
    assert sandbox
    assert isinstance(sandbox.carrier, UnusableCarrier)
    with pytest.raises(ConnectionRefused):
        await sandbox.carrier.check()
    assert told == ["the carrier connection sandbox cannot be opened"]


async def test_the_pace_of_a_connection_counts_more_than_that_of_its_kind(
    connections: OpenConnections, pool: Pool
) -> None:
    await change_connection(pool, "sandbox", parts_per_second=2.5)
    await connections.refresh()

    sandbox = connections.find("sandbox")

    assert sandbox
    assert sandbox.parts_per_second == 2.5
