"""Networks that ask much without showing who they are are answered a moment later."""

import httpx2
import pytest
from starlette.applications import Starlette

from app.bootstrap import derive
from app.domain.onboarding.service import Opened
from app.http import pace
from app.http.pace import Paced
from app.services import Services
from tests.oauth.applications import add_application
from tests.oauth.browsing import Browsing
from tests.rest.carriers import call

pytestmark = pytest.mark.anyio

RECEIPT = {"id": "sbx_1", "reference": 1, "status": "delivered", "code": None}


@pytest.fixture
def delayed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let time stand still, and note each answer that is delayed instead of waiting."""
    noted: list[str] = []

    async def delay(_: Paced) -> None:
        noted.append("delayed")

    monkeypatch.setattr(Paced, "_delay", delay)
    monkeypatch.setattr(pace, "monotonic", lambda: 1000.0)
    return noted


@pytest.fixture
def hasty(delayed: list[str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Take every network for one that has had its share."""
    monkeypatch.setattr(pace, "BURST_SECONDS", -1)
    return delayed


async def ask(app: Paced, address: str, times: int) -> None:
    transport = httpx2.ASGITransport(app, client=(address, 1))
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        for _ in range(times):
            assert (await client.get("/")).status_code == 404


async def test_a_network_has_five_seconds_of_answers_at_once_and_further_ones_are_delayed(delayed: list[str]) -> None:
    app = Paced(Starlette(), per_second=2)

    await ask(app, "192.0.2.1", 10)
    assert delayed == []

    await ask(app, "192.0.2.1", 3)
    assert len(delayed) == 3
    await ask(app, "198.51.100.1", 10)
    assert len(delayed) == 3


async def test_a_wider_network_has_four_times_as_many(delayed: list[str]) -> None:
    app = Paced(Starlette(), per_second=2)

    for number in range(10):
        await ask(app, f"192.0.2.{number}", 5)

    assert len(delayed) == 10


async def test_so_many_networks_are_remembered(delayed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "MAX_NETWORKS", 4)
    app = Paced(Starlette(), per_second=2)

    for number in range(5):
        await ask(app, f"192.0.{number}.1", 1)

    assert len(app._full_at) == 4


@pytest.mark.parametrize(
    "path", ["/", "/openapi.json", "/docs/errors", "/readyz", "/metrics", "/no/such/path", "/contacts", "/oauth/keys"]
)
async def test_a_request_without_a_valid_key_is_delayed_on_every_path(
    http: httpx2.AsyncClient, hasty: list[str], path: str
) -> None:
    await http.get(path, headers={"X-API-Key": "svc_x"})

    assert hasty == ["delayed"]


async def test_a_good_key_session_token_or_signature_is_never_slowed_down(
    http: httpx2.AsyncClient, services: Services, account: Opened, hasty: list[str]
) -> None:
    browsing = Browsing(http)
    application = await add_application(services, browsing, account)
    code = await application.code()
    hasty.clear()

    key, sandbox = {"X-API-Key": account.svc_key}, derive(services.settings, "sandbox")
    asked = {
        "REST": lambda: http.get("/contacts", headers=key),
        "GraphQL": lambda: http.post("/graphql", json={"query": "{ __typename }"}, headers=key),
        "a page": lambda: http.get("/account"),
        "tokens": lambda: application.exchange(code),
        "a callback": lambda: call(http, sandbox, "/carriers/sandbox/status", RECEIPT),
    }
    told = {name: ((await ask()).status_code, len(hasty)) for name, ask in asked.items()}

    assert told == {**dict.fromkeys(("REST", "GraphQL", "a page", "tokens"), (200, 0)), "a callback": (204, 0)}
