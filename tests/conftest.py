"""One PostgreSQL and one Valkey for the whole run; a database of its own for each test process, empty for each test."""

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx2
import hypothesis
import pytest
import structlog
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.bootstrap import METADATA, Services, derive, open_drip, open_handoff, open_services
from app.db import engine, migrate
from app.db.engine import Pool
from app.domain.accounts import passwords
from app.domain.kernel.unit import Actor, Unit, open_unit
from app.domain.onboarding.service import Opened, Opening, open_account
from app.embedded.servers import Servers
from app.main import create_app
from app.providers.carriers.sandbox.playback import Playback
from app.settings import Settings
from app.telemetry import logs

SECRET = "a secret for tests"

# No test depends on speed; and what runs unattended tries the same examples every time.
hypothesis.settings.register_profile(
    "house",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
    print_blob=True,
)
hypothesis.settings.load_profile("house")


def pytest_configure(config: pytest.Config) -> None:
    """Log as the service does; start the servers once, in the process that hands out the tests."""
    logs.configure("json", "warning")
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="tests-of-messaging-")
        servers = Servers.start(Path(folder), durable=False)
        config.add_cleanup(servers.stop)
        os.environ["TEST_DATABASE_URL"] = servers.database_url
        os.environ["TEST_REDIS_URL"] = servers.redis_url
        asyncio.run(migrate.upgrade(servers.database_url, METADATA))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    """Put logging back as it was, whatever a test has configured."""
    root, configuration = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.configure(**configuration)
    structlog.contextvars.clear_contextvars()


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Hash passwords cheaply: tests open many accounts."""
    passwords.PASSWORDS = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once() -> Iterator[None]:
    """Share what SQLAlchemy has compiled: each test opens an engine of its own, and would compile it all again."""
    shared: list[tuple[Any, Any]] = []

    def create(*args: Any, **options: Any) -> AsyncEngine:
        created = create_async_engine(*args, **options)
        if "json_serializer" in options:  # it is made by `connect`, always with the same options
            plain: Any = created.sync_engine
            shared.append((plain.dialect, plain._compiled_cache))
            plain.dialect, plain._compiled_cache = shared[0]
            del shared[1:]
        return created

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "create_async_engine", create)
        yield


@pytest.fixture(scope="session")
def worker_number(request: pytest.FixtureRequest) -> int:
    """Tell the test processes apart: 0 for the only one, else from 1."""
    name = getattr(request.config, "workerinput", {}).get("workerid", "gw-1")
    return int(name.removeprefix("gw")) + 1


@pytest.fixture(scope="session")
def database_url(worker_number: int) -> str:
    """Return the address of a database with every table."""
    template = os.environ["TEST_DATABASE_URL"]
    name = f"test_{worker_number}_{os.getpid()}"
    asyncio.run(_copy_database(template, name))
    return template.replace("/messaging?", f"/{name}?")


async def _copy_database(template: str, name: str) -> None:
    connection = await asyncpg.connect(template.replace("/messaging?", "/postgres?"))
    await connection.execute(f"CREATE DATABASE {name} TEMPLATE messaging STRATEGY wal_log")
    await connection.close()


@pytest.fixture
def settings(database_url: str, worker_number: int, tmp_path: Path) -> Settings:
    """Return settings under which everything is quick."""
    return Settings(
        _env_file=None,
        DATABASE_URL=database_url,
        REDIS_URL=os.environ["TEST_REDIS_URL"].replace("db=0", f"db={worker_number}"),
        base_url="http://127.0.0.1:8000",
        secret_key=SECRET,
        data=tmp_path,
        database_pool=4,
        sandbox_delay_seconds=0,
        handoff_timeout_seconds=0.3,
        handoff_lease_seconds=1,
        ambiguous_wait_seconds=0,
        key_cache_seconds=0,
    )


@pytest.fixture
async def services(settings: Settings) -> AsyncGenerator[Services]:
    """Give the services on an empty database."""
    async with open_services(settings) as services:
        yield services
        await services.desk.close()
        await services.door.close()
        await empty(services.database.pool)


async def empty(pool: Pool) -> None:
    """Empty every table; fail where a test left a transaction open, and say which."""
    try:
        async with pool.acquire() as connection, connection.transaction():
            await connection.execute("SET LOCAL lock_timeout = '10s'")
            await connection.execute(EMPTY)
    except asyncpg.LockNotAvailableError:
        left = [(row["state"], row["query"]) for row in await pool.fetch(END_OTHERS)]
        await pool.execute(EMPTY)
        pytest.fail(f"The test left transactions open: {left}")


END_OTHERS = """
SELECT state, query, pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
"""

TABLES = [table.name for table in METADATA.sorted_tables]
EMPTY = f"""
DO $$ BEGIN
  LOCK TABLE {", ".join(TABLES)} IN ACCESS EXCLUSIVE MODE;
  SET LOCAL session_replication_role = replica;
  {" ".join(f"DELETE FROM {table};" for table in TABLES)}
END $$
"""
"""Empties every table; TRUNCATE takes fifty times as long where there is little in them."""


@pytest.fixture
def new_account(services: Services) -> Callable[..., Any]:
    """Give a function that opens accounts."""
    number = iter(range(1, 1000))

    async def open_one(credits: int = 1000, company_name: str = "Blue Door") -> Opened:
        email = f"owner{next(number)}@example.com"
        opening = Opening(company_name, email, services.settings.rate, credits, services.secret)
        async with unit_of(services, Actor(0, frozenset())) as unit:
            return await open_account(unit, opening)

    return open_one


@pytest.fixture
async def account(new_account: Callable[..., Any]) -> Opened:
    """Give an account with 1,000 credits and a sandbox number."""
    return await new_account()


@pytest.fixture
async def unit(services: Services, account: Opened) -> AsyncGenerator[Unit]:
    """Give a unit of the account's, committed at the end."""
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        yield unit


def unit_of(services: Services, actor: Actor) -> Any:
    """Open a unit of an actor's."""
    return open_unit(services.database.sessions, actor, services.clock, services.ring)


@pytest.fixture
async def http(services: Services) -> AsyncGenerator[httpx2.AsyncClient]:
    """Give a client of the whole application that sends no key."""
    async with _running(create_app(services.settings)) as app:
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url=services.settings.public_url) as client:
            yield client


@pytest.fixture
def api(http: httpx2.AsyncClient, account: Opened) -> httpx2.AsyncClient:
    """Give a client that sends the account's key."""
    http.headers["Authorization"] = f"Bearer {account.svc_key}"
    return http


@asynccontextmanager
async def _running(app: Any) -> AsyncGenerator[Any]:
    """Start and stop an ASGI application as a server does."""
    incoming: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    outgoing: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    task = asyncio.create_task(
        app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, incoming.get, outgoing.put)
    )
    incoming.put_nowait({"type": "lifespan.startup"})
    assert (await outgoing.get())["type"] == "lifespan.startup.complete"
    yield app
    incoming.put_nowait({"type": "lifespan.shutdown"})
    assert (await outgoing.get())["type"] == "lifespan.shutdown.complete"
    await task


@pytest.fixture
def work(services: Services, http: httpx2.AsyncClient) -> Callable[[], Any]:
    """Give a function that does what workers do until nothing is due: hand over, reconcile, report, match."""
    handoff, drip = open_handoff(services), open_drip(services)
    secret = derive(services.settings, "sandbox")
    keyless = httpx2.AsyncClient(transport=http._transport)
    playback = Playback(services.database.pool, keyless, services.settings.public_url, secret)
    jobs = [
        (drip.due, drip.run),
        (handoff.due, handoff.run),
        (handoff.lapsed, handoff.reconcile),
        (playback.due, playback.run),
        (services.receipts.due, services.receipts.match),
    ]

    async def work() -> None:
        while due := [run for is_due, run in jobs if await is_due()]:
            for run in due:
                await run()

    return work
