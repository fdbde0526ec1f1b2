"""The service keeps what its OpenAPI document promises, whatever is sent: five hundred cases, half of them bad."""

import asyncio
import os
import threading
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st
from schemathesis import APIOperation, BaseSchema, Case, GenerationMode
from schemathesis.checks import positive_data_acceptance
from schemathesis.specs.openapi.checks import ignored_auth

from app.cli import setup
from app.graphql.schema import contract
from app.main import REST, create_app
from app.operations.document import load
from app.settings import Settings
from tests.conftest import EMPTY, SECRET
from tests.e2e.processes import free_port, is_ready, until

CASES = 500
OPERATIONS = load(REST, contract())
ENDPOINTS = sorted({(rest.method, rest.path) for each in OPERATIONS for rest in each.rest})
WITH_INPUT = sorted({(rest.method, rest.path) for each in OPERATIONS for rest in each.rest if each.variables})
PROFILE = profile(
    max_examples=-(-CASES // len(ENDPOINTS + WITH_INPUT)),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
PHONES = ["+12025550143", "+15005550001", "+447911123456", "+442071838750", "(202) 555-0143", "12345", ""]
"""What stands for a phone in good cases: a text made by chance is never a number."""

MEMBERS = {"to": PHONES, "phone": PHONES, "email": ["ann@example.com", ""], "consent_attested": [True, True, None]}


@pytest.fixture(scope="module")
def live(database_url: str, worker_number: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Serve the whole application on a port of its own, on an event loop of its own."""
    redis_url = os.environ["TEST_REDIS_URL"].replace("db=0", f"db={worker_number}")
    settings = Settings(
        _env_file=None,
        DATABASE_URL=database_url,
        REDIS_URL=redis_url,
        PORT=free_port(),
        secret_key=SECRET,
        data=tmp_path_factory.mktemp("live"),
        database_pool=4,
    )
    config = uvicorn.Config(create_app(settings), port=settings.port, log_config=None, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
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
def key(live: Settings) -> str:
    """Give the key of an account that can pay for every case."""
    return asyncio.run(setup.create_account(live, "Blue Door", "ann@example.com", 1_000_000)).svc_key


@pytest.fixture(scope="module")
def api(live: Settings) -> BaseSchema:
    return schemathesis.openapi.from_url(f"{live.public_url}/openapi.json")


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_what_fits_the_document_is_answered_as_it_promises(api: BaseSchema, key: str, method: str, path: str) -> None:
    call(api[path][method], GenerationMode.POSITIVE, key)


@pytest.mark.parametrize(("method", "path"), WITH_INPUT)
def test_what_does_not_fit_the_document_is_refused_as_it_promises(
    api: BaseSchema, key: str, method: str, path: str
) -> None:
    call(api[path][method], GenerationMode.NEGATIVE, key)


def call(endpoint: APIOperation, mode: GenerationMode, key: str) -> None:
    good = mode is GenerationMode.POSITIVE

    @given(case=endpoint.as_strategy(generation_mode=mode), chance=st.randoms(use_true_random=False))
    @PROFILE
    def send(case: Case, chance: Any) -> None:
        if good:
            enliven(case, chance)
        # JSON Schema knows neither which texts are phones nor which ids are taken; and the check of authentication
        # adds bad credentials of one kind to our good ones of the other.
        case.call_and_validate(headers={"X-API-Key": key}, excluded_checks=[positive_data_acceptance, ignored_auth])

    send()


def enliven(case: Case, chance: Any) -> None:
    """Put values into a good case that can be more than well-formed."""
    if isinstance(case.body, dict):
        case.body |= {name: chance.choice(values) for name, values in MEMBERS.items() if name in case.body}
    if "id" in (case.path_parameters or {}):
        case.path_parameters["id"] = chance.randrange(1, 9)
