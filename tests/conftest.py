"""One PostgreSQL and one Valkey for the whole run; one database for each test process, emptied for each test."""

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from functools import cache, partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import asyncpg
import httpcore2
import httpx2
import pytest
import structlog
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app import gc
from app.bootstrap import METADATA, derive, open_drip
from app.db import engine, migrate
from app.domain.accounts.sign_in import passwords
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.oauth import signing
from app.domain.onboarding.service import Opened, Opening
from app.domain.webhooks.poster import Poster, Reply
from app.embedded.servers import Servers
from app.providers.carriers.sandbox.playback import Playback
from app.services import Services
from app.settings import Settings
from app.telemetry import logs
from tests.domain.messages.handing import hand_over, reconcile
from tests.examples import PROFILE
from tests.factories.saved import SavedRows
from tests.shared import EMPTY as EMPTY
from tests.shared import MAKE_EMPTY, Shared
from tests.waiting import PATIENCE_SECONDS

pytest_plugins = ["tests.bounds", "tests.forks"]

SECRET = "a secret for tests, of 32 bytes or more"
SAVED = SavedRows()

PROCESSES = (
    "browser/",
    "carriers/",
    "e2e/",
    "embedded/",
    "graphql/test_audits",
    "graphql/test_live_clients",
    "graphql/test_typescript",
    "jobs/test_webhooks_workers",
    "jobs/test_worker",
    "mcp/test_conformance",
    "mcp/test_tool_clients",
    "mcp/test_tool_reference_clients",
    "oauth/test_oauth_reference_clients",
    "smpp/",
)
"""Tests that start programs. Like properties they are slow on a busy machine."""

MANY_CASES = (
    "domain/accounts/test_credentials_machine",
    "domain/billing/test_money_machine",
    "domain/crm/test_conversation",
    "domain/integrations/test_lives",
    "graphql/test_generated_documents",
    "graphql/test_statements_of_lists",
)
"""Tests of many steps or cases, which hypothesis does not mark."""

LONG_SECONDS = 180 if PROFILE == "default" else 3600
WAITING = ("e2e/", "mcp/", "smpp/", "embedded/", "oauth/test_oauth_reference_clients", "jobs/", "carriers/")
WAITING += ("graphql/test_typescript", "graphql/test_live", "domain/webhooks/", "db/")
"""Tests that mostly wait, the longest first."""

LONG = ("browser/test_every_page", "browser/test_states", "browser/test_dialogs", "domain/messages/test_explanations")
LONG += ("graphql/test_json_texts", "rest/test_hostile_values")
"""Other tests that take seconds: they begin before short ones, so that no process ends with one."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the first test process begin with tests that wait, two with browsers, and two with other long tests.

    Short tests fill the equal shares of the list; a process that is done takes tests from the end of the longest one.
    """
    for item in items:
        if _place(item).startswith(PROCESSES) or _is_of_many_cases(item):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))
    waiting = [item for prefix in WAITING for item in items if _place(item).startswith(prefix)]
    browsers = sorted((item for item in items if _place(item).startswith("browser/")), key=_is_short)
    others = [item for item in items if not _place(item).startswith((*WAITING, "browser/"))]
    long, rest = [item for item in others if not _is_short(item)], iter(filter(_is_short, others))
    share = len(items) // getattr(config, "workerinput", {"workercount": 1})["workercount"]
    items[:] = []
    for first in (waiting, browsers[::2], browsers[1::2], long[::2], long[1::2]):
        items += [*first, *islice(rest, max(0, share - len(first)))]
    items += rest


def _is_of_many_cases(item: pytest.Item) -> bool:
    return _place(item).startswith(MANY_CASES) or hasattr(getattr(item, "obj", None), "hypothesis")


def _is_short(item: pytest.Item) -> bool:
    return not (_place(item).startswith(LONG) or _is_of_many_cases(item))


def _place(item: pytest.Item) -> str:
    return item.nodeid.removeprefix("tests/")


def pytest_collection_finish() -> None:
    """Exclude the objects made during loading from garbage collection."""
    gc.settle()


def pytest_configure(config: pytest.Config) -> None:
    """Log as the service does; start the servers in the controlling process of several test processes."""
    gc.pause()
    logs.configure("json", "warning")
    if not hasattr(config, "workerinput") and config.getoption("numprocesses", None):
        _start_servers(config)


def _start_servers(config: pytest.Config) -> None:
    folder = tempfile.mkdtemp(prefix="tests-of-messaging-")
    config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))
    servers = Servers.start(Path(folder), durable=False)
    config.add_cleanup(servers.stop)
    os.environ["TEST_DATABASE_URL"] = servers.database_url
    os.environ["TEST_REDIS_URL"] = servers.redis_url
    asyncio.run(migrate.upgrade(servers.database_url, METADATA))


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(autouse=True)
def logging_restored() -> Iterator[None]:
    """Restore the configuration of logging after a test."""
    root, configuration = logging.getLogger(), structlog.get_config()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    if root.level != level:  # setting it costs as much as a small test
        root.setLevel(level)
    structlog.configure(**configuration)


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    """Use a cheap password hash, because tests open many accounts."""
    passwords.PASSWORDS = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Share one TLS context among the clients of the tests, because reading the root certificates takes 70 ms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def patient_clients() -> Iterator[None]:
    """Let HTTP clients without a timeout of their own wait like `within`: their five seconds fail on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        for phase in ("connect", "read", "write", "pool"):
            patch.setattr(httpx2.Client.__init__.__kwdefaults__["timeout"], phase, PATIENCE_SECONDS)
        yield


@pytest.fixture(scope="session", autouse=True)
def signing_keys_made_once() -> Iterator[None]:
    """Reuse a few RSA keys, because generating one takes 80 ms and loading one 55 ms."""
    made = cycle([cache(partial(generate_private_key, 65537, signing.BITS)) for _ in range(8)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signing, "generate_private_key", lambda *_: next(made)())
        patch.setattr(serialization, "load_pem_private_key", cache(serialization.load_pem_private_key))
        yield


@pytest.fixture(scope="session", autouse=True)
def statements_compiled_once() -> Iterator[None]:
    """Share SQLAlchemy's compiled statements, because the engine of each test would compile them again."""
    shared: list[tuple[Any, Any]] = []

    def create(*args: Any, **options: Any) -> AsyncEngine:
        created = create_async_engine(*args, **options)
        if "json_serializer" in options:  # `connect` creates it, always with the same options
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
    """Return the number of the test process: 0 for the only one, otherwise from 1."""
    name = getattr(request.config, "workerinput", {}).get("workerid", "gw-1")
    return int(name.removeprefix("gw")) + 1


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> None:
    """Start the servers, unless the controlling process has started them."""
    if "TEST_DATABASE_URL" not in os.environ:
        _start_servers(pytestconfig)


@pytest.fixture(scope="session")
def database_url(servers: None, worker_number: int) -> str:
    """Return the URL of a database with every table."""
    return asyncio.run(copy_database(f"test_{worker_number}_{os.getpid()}"))


@pytest.fixture(scope="session")
def kept_database_url(servers: None, worker_number: int) -> str:
    """Return the URL of another database, whose rows are shared by the tests of a module."""
    return asyncio.run(copy_database(f"kept_{worker_number}_{os.getpid()}"))


async def copy_database(name: str) -> str:
    template = os.environ["TEST_DATABASE_URL"]
    connection = await asyncpg.connect(template.replace("/messaging?", "/postgres?"))
    await connection.execute(f"CREATE DATABASE {name} TEMPLATE messaging STRATEGY file_copy")
    await connection.close()
    url = template.replace("/messaging?", f"/{name}?")
    connection = await asyncpg.connect(url)
    await connection.execute(MAKE_EMPTY)
    await connection.close()
    return url


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for files of the services."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture
def settings(database_url: str, worker_number: int, data_folder: Path) -> Settings:
    """Return settings with short times."""
    return _quick_settings(database_url, worker_number, data_folder).model_copy()


@cache
def _quick_settings(database_url: str, worker_number: int, data_folder: Path) -> Settings:
    return Settings(
        _env_file=None,
        DATABASE_URL=database_url,
        REDIS_URL=os.environ["TEST_REDIS_URL"].replace("db=0", f"db={worker_number}"),
        environment="development",
        base_url="http://127.0.0.1:8000",
        secret_key=SECRET,
        data=data_folder,
        database_pool=4,
        sandbox_delay_seconds=0,
        handoff_timeout_seconds=10,
        handoff_lease_seconds=30,
        ambiguous_wait_seconds=0,
        key_cache_seconds=0,
    )


@pytest.fixture(scope="session")
async def shared(anyio_backend: str) -> AsyncGenerator[Shared]:
    """Provide the services and applications that all tests of the process share."""
    async with AsyncExitStack() as stack:
        yield Shared(stack)


@pytest.fixture
async def services(shared: Shared, settings: Settings) -> AsyncGenerator[Services]:
    """Provide the services on an empty database. Tests share them: one that closes or breaks a part opens its own."""
    services = await shared.services(settings)
    yield services
    await shared.clear(services)


@pytest.fixture(scope="module")
async def kept(
    shared: Shared, kept_database_url: str, worker_number: int, data_folder: Path
) -> AsyncGenerator[Services]:
    """Provide services on a database that is emptied after the module, for tests that only read."""
    services = await shared.services(_quick_settings(kept_database_url, worker_number, data_folder))
    yield services
    await shared.clear(services)


@pytest.fixture
def new_account(services: Services) -> Callable[..., Any]:
    """Provide a function that opens accounts."""
    return opener(services)


def opener(services: Services) -> Callable[..., Any]:
    """Return a function that opens accounts."""
    number = iter(range(1, 1000))

    async def open_one(credits: int = 1000, company_name: str = "Blue Door") -> Opened:
        email = f"owner{next(number)}@example.com"
        opening = Opening(company_name, email, services.settings.rate, credits, services.secret)
        return await SAVED.account(services, opening)

    return open_one


@pytest.fixture
async def account(new_account: Callable[..., Any]) -> Opened:
    """Provide an account with 1,000 credits and a sandbox number."""
    return await new_account()


@pytest.fixture
async def unit(services: Services, account: Opened) -> AsyncGenerator[UnitOfWork]:
    """Provide a unit of work of the account, committed at the end."""
    async with unit_of(services, Actor(account.account_id, frozenset(), "test")) as unit:
        yield unit


def unit_of(services: Services, actor: Actor) -> Any:
    """Open a unit of work of an actor."""
    return open_unit(services.database.sessions, actor, services.clock, services.notify)


@pytest.fixture
async def http(shared: Shared, services: Services) -> AsyncGenerator[httpx2.AsyncClient]:
    """Provide a client of the whole application that sends no key."""
    transport = httpx2.ASGITransport(app=await shared.app(services), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=services.settings.public_url) as client:
        yield client


@pytest.fixture
def api(http: httpx2.AsyncClient, account: Opened) -> httpx2.AsyncClient:
    """Provide a client that sends the account's key."""
    http.headers["Authorization"] = f"Bearer {account.svc_key}"
    return http


class InProcess(Poster):
    """Posts to the application without a network."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._keyless = httpx2.AsyncClient(transport=http._transport)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        return Reply((await self._keyless.post(url, headers=dict(headers), content=body)).status_code)


@pytest.fixture
def work(services: Services, http: httpx2.AsyncClient) -> Callable[[], Any]:
    """Provide a function that runs jobs of messages until nothing is due: hand-off, queries, callbacks, matching."""
    handoff, drip = services.handoff, open_drip(services)
    secret = derive(services.settings, "sandbox")
    playback = Playback(services.database.pool, InProcess(http), services.settings.public_url, lambda _: secret)
    jobs = [
        (drip.due, drip.run),
        (handoff.due, lambda: hand_over(handoff)),
        (handoff.lapsed, lambda: reconcile(handoff)),
        (playback.due, playback.run),
        (services.receipts.due, services.receipts.match),
    ]

    async def work() -> None:
        while due := [run for is_due, run in jobs if await is_due()]:
            for run in due:
                await run()

    return work
