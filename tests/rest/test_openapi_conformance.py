"""The service keeps what its OpenAPI document promises, whatever is sent with whatever key: a thousand cases."""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import asyncpg
import httpx2
import pytest
import requests
import schemathesis
import uvicorn
import uvloop
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from schemathesis import BaseSchema, Case, GenerationMode
from schemathesis.checks import positive_data_acceptance
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import ignored_auth
from schemathesis.transport.requests import ManagedCookiesSession

from app.cli import setup
from app.domain.onboarding.service import Opened
from app.main import create_app, rest_operations
from app.settings import Settings
from tests.conftest import SECRET
from tests.e2e.processes import free_port, is_ready, until
from tests.oauth.applications import REDIRECT, Application, bearer
from tests.oauth.browsing import Browsing
from tests.shared import EMPTY
from tests.waiting import PATIENCE_SECONDS

CasesOf = Callable[[str, str, GenerationMode], st.SearchStrategy[Case]]
"""Returns what generates the cases of a method and a path."""

OPERATIONS = rest_operations()
ENDPOINTS = sorted({(rest.method, rest.path) for each in OPERATIONS for rest in each.rest})
WITH_INPUT = sorted(
    {(rest.method, rest.path) for each in OPERATIONS for rest in each.rest if each.variables}
    - {("GET", "/automation/sample/{event}")}  # where every text fits
)
CASES = -(-500 // len(ENDPOINTS + WITH_INPUT))
"""Number of valid and of invalid cases of each endpoint."""

FURTHER = {"svc_key_as_bearer": 3, "auto_key": 3, "access_token": 3, "nothing": 1}
"""The other kinds of credentials, and how many of these cases are sent with each as well."""

PHONES = ["+12025550143", "+15005550001", "+447911123456", "+442071838750", "(202) 555-0143", "12345", ""]
"""The phone of valid cases, since a random text is never a number."""

MEMBERS: dict[str, Sequence[Any]] = {
    "to": PHONES,
    "phone": PHONES,
    "email": ["ann@example.com", ""],
    "consent_attested": [True, True, None],
    "event": ["new_message", "new_contact", "none of ours"],
    "target_url": ["https://example.com/hooks", "https://example.com/hooks/2", "http://127.0.0.1/"],
    "tag": ["vip"],
    "id": range(1, 9),
}
"""Values that can be more than well-formed."""


@pytest.fixture(scope="module")
def live(database_url: str, worker_number: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Serve the whole application on a port of its own, on an event loop of its own."""
    redis_url = os.environ["TEST_REDIS_URL"].replace("db=0", f"db={worker_number}")
    settings = Settings(
        _env_file=None,
        DATABASE_URL=database_url,
        REDIS_URL=redis_url,
        PORT=free_port(),
        environment="development",
        secret_key=SECRET,
        data=tmp_path_factory.mktemp("live"),
        database_pool=4,
    )
    config = uvicorn.Config(create_app(settings), port=settings.port, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: uvloop.run(server.serve()))
    thread.start()
    until(lambda: is_ready(settings.public_url))
    yield settings
    server.should_exit = True
    thread.join()
    asyncio.run(_empty(database_url))


async def _empty(database_url: str) -> None:
    connection = await asyncpg.connect(database_url)
    await connection.execute(EMPTY)
    await connection.close()


@pytest.fixture(scope="module")
def credentials(live: Settings) -> dict[str, dict[str, str]]:
    """Give the headers of each kind of credentials of an account that can pay for every case."""
    account = asyncio.run(setup.create_account(live, "Blue Door", "ann@example.com", 1_000_000))
    return {
        "svc_key": {"X-API-Key": account.svc_key},
        "svc_key_as_bearer": bearer(account.svc_key),
        "auto_key": {"X-API-Key": account.auto_key},
        "access_token": bearer(asyncio.run(_connect(live, account))),
        "nothing": {},
    }


async def _connect(live: Settings, account: Opened) -> str:
    """Have the owner allow an application; return its access token."""
    client = await setup.create_client(live, "Pipelines", [REDIRECT])
    async with httpx2.AsyncClient(base_url=live.public_url) as http:
        application = Application(http, Browsing(http), account, 0, client["client_id"], client["client_secret"])
        return (await application.connect())["access_token"]


@pytest.fixture(scope="module")
def api(live: Settings) -> BaseSchema:
    # It would make up credentials of its own, and whoever sends a bad bearer beside a good key is nobody.
    config = SchemathesisConfig.from_dict({"generation": {"with-security-parameters": False}})
    return schemathesis.openapi.from_url(f"{live.public_url}/openapi.json", config=config)


@pytest.fixture(scope="module")
def cases_of(api: BaseSchema) -> CasesOf:
    """Give a function that makes a generator of cases: one that is shared learns from earlier tests."""
    return lambda method, path, mode: api[path][method].as_strategy(generation_mode=mode)


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """Give a client that keeps its connection, but no cookies, and adds no headers."""
    with ManagedCookiesSession() as session:
        session.trust_env = False
        session.headers.clear()
        yield session


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_valid_requests_get_the_documented_answers(
    cases_of: CasesOf,
    session: requests.Session,
    credentials: dict[str, dict[str, str]],
    method: str,
    path: str,
) -> None:
    cases = cases_of(method, path, GenerationMode.POSITIVE)
    call(cases, session, credentials, good=True)


@pytest.mark.parametrize(("method", "path"), WITH_INPUT)
def test_invalid_requests_get_the_documented_refusals(
    cases_of: CasesOf,
    session: requests.Session,
    credentials: dict[str, dict[str, str]],
    method: str,
    path: str,
) -> None:
    cases = cases_of(method, path, GenerationMode.NEGATIVE)
    call(cases, session, credentials, good=False)


def call(
    cases: st.SearchStrategy[Case], session: requests.Session, credentials: dict[str, dict[str, str]], *, good: bool
) -> None:
    plan = profile(
        max_examples=CASES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    left = dict(FURTHER)

    @given(case=cases, chance=st.randoms(use_true_random=False))
    @plan
    def send(case: Case, chance: Any) -> None:
        if good:
            enliven(case, chance)
        for kind in ("svc_key", *(kind for kind, number in left.items() if number)):
            exchange(case, session, credentials[kind])
            if kind in left:
                left[kind] -= 1

    send()


def exchange(case: Case, session: requests.Session, credentials: dict[str, str]) -> None:
    """Send a case, and check the answer against the document."""
    # JSON Schema knows neither which texts are phones nor which ids are taken; and the check of authentication
    # adds bad credentials of one kind to our good ones of the other.
    answer = case.call_and_validate(
        session=session,
        headers=credentials,
        excluded_checks=[positive_data_acceptance, ignored_auth],
        timeout=PATIENCE_SECONDS,
    )
    assert (answer.status_code == 401) is (not credentials)


def enliven(case: Case, chance: Any) -> None:
    """Put values into a good case that can be more than well-formed."""
    for sent in (case.body, case.path_parameters):
        if isinstance(sent, dict):
            sent |= {name: chance.choice(values) for name, values in MEMBERS.items() if name in sent}
