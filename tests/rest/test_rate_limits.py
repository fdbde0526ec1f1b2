"""Rate limits, as clients meet them."""

from typing import Any

import httpx2
import orjson
import pytest

from app.domain.onboarding.service import Opened
from app.services import Services
from app.settings import Settings
from tests.factories.billing import balance_of
from tests.factories.messages import MESSAGES
from tests.rest.answers import data, refusal

pytestmark = pytest.mark.anyio

SEND = {"to": "+12025550143", "message": "Hello", "consent_attested": True}
WEEKS_SECONDS = 1_200_000
THIRD_SECONDS = WEEKS_SECONDS // 3
"""The time in which a limit of three requests regains one."""

BALANCE = {"query": "{ balance { balance } }"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """Allow each key two sends and three other requests a minute."""
    return settings.model_copy(update={"rate_limit": 3, "send_rate_limit": 2})


@pytest.fixture(autouse=True)
def no_refill(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the limits regain next to nothing while a test runs; their headers still state a minute."""
    for policy in (services.limits.requests, services.limits.sends):
        monkeypatch.setitem(vars(policy), "window", WEEKS_SECONDS * 1_000_000)
        monkeypatch.setitem(vars(policy), "costs", (cost := WEEKS_SECONDS * 1_000_000 // policy.quota, cost // 4))


async def exhaust(api: httpx2.AsyncClient, count: int = 3) -> None:
    for _ in range(count):
        assert (await api.get("/contacts")).status_code == 200


def limits(answer: httpx2.Response) -> Any:
    return answer.headers["ratelimit-policy"], answer.headers["ratelimit"].split(";t=")[0]


async def test_every_answer_states_the_remaining_requests(api: httpx2.AsyncClient) -> None:
    policy = '"requests";q=3;w=60, "requests-account";q=12;w=60'

    assert limits(await api.get("/contacts")) == (policy, '"requests";r=2')
    assert limits(await api.get("/contacts/1")) == (policy, '"requests";r=1')
    assert limits(await api.post("/graphql", json=BALANCE)) == (policy, '"requests";r=0')


async def test_too_many_requests_are_refused_with_429_and_the_seconds_to_wait(api: httpx2.AsyncClient) -> None:
    await exhaust(api)

    answer = await api.get("/contacts")

    seconds = answer.headers["retry-after"]
    assert refusal(answer) == (429, "rate_limited", f"Too many requests. Try again in {seconds} s.")
    assert THIRD_SECONDS - 60 <= int(seconds) <= THIRD_SECONDS
    assert answer.headers["ratelimit"].startswith('"requests";r=0;t=')


async def test_the_contract_refuses_them_too(api: httpx2.AsyncClient) -> None:
    await exhaust(api)

    answer = await api.post("/graphql", json=BALANCE)

    [error] = answer.json()["errors"]
    assert (answer.status_code, error["extensions"]["code"]) == (429, "rate_limited")
    assert THIRD_SECONDS - 60 <= int(answer.headers["retry-after"]) <= THIRD_SECONDS


async def test_sends_have_a_limit_of_their_own(api: httpx2.AsyncClient, services: Services, account: Opened) -> None:
    await exhaust(api)
    sent = [data(await api.post("/sms/send", json=SEND))["status"] for _ in range(2)]

    answer = await api.post("/sms/send", json=SEND)

    assert sent == ["pending", "pending"]
    assert refusal(answer)[:2] == (429, "rate_limited")
    assert answer.headers["ratelimit-policy"].startswith('"sends";q=2;w=60')
    assert await MESSAGES.count(services) == 2
    assert await balance_of(services) == account.credits - 2


async def test_the_explanation_of_a_send_counts_as_a_request(api: httpx2.AsyncClient) -> None:
    query = '{ contacts { total_count } explain_send(to: "+12025550143", body: "Hi") { is_allowed } }'

    answer = await api.post("/graphql", json={"query": query})

    assert answer.json()["data"]["explain_send"] == {"is_allowed": True}
    assert limits(answer)[1] == '"requests";r=2'


@pytest.mark.parametrize(
    ("path", "body", "status"), [("/automation/actions/create-contact", b"{}", 422), ("/contacts", b"[", 400)]
)
async def test_a_request_that_is_refused_counts_too(
    api: httpx2.AsyncClient, path: str, body: bytes, status: int
) -> None:
    for left in (2, 1, 0):
        answer = await api.post(path, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, limits(answer)[1]) == (status, f'"requests";r={left}')

    answer = await api.post(path, content=body, headers={"Content-Type": "application/json"})

    assert refusal(answer)[:2] == (429, "rate_limited")


async def test_a_request_beyond_the_scopes_of_a_key_counts_too(api: httpx2.AsyncClient, account: Opened) -> None:
    key = {"Authorization": f"Bearer {account.auto_key}"}
    for left in (2, 1, 0):
        answer = await api.get("/billing/balance", headers=key)
        assert (answer.status_code, limits(answer)[1]) == (403, f'"requests";r={left}')

    assert (await api.get("/billing/balance", headers=key)).status_code == 429
    assert (await api.get("/contacts", headers=key)).status_code == 429


async def test_an_unreadable_graphql_request_counts_too(api: httpx2.AsyncClient) -> None:
    for left in (2, 1, 0):
        answer = await api.post("/graphql", content=b"[", headers={"Content-Type": "application/json"})
        assert (answer.status_code, limits(answer)[1]) == (400, f'"requests";r={left}')

    assert (await api.post("/graphql", json=BALANCE)).status_code == 429


@pytest.mark.parametrize(("size", "left"), [(4_000, 2), (5_000, 1), (9_000, 0)])
async def test_a_body_counts_as_one_request_more_for_each_4_kib_though_it_is_refused(
    api: httpx2.AsyncClient, size: int, left: int
) -> None:
    answer = await api.post("/contacts", content=b"[" * size, headers={"Content-Type": "application/json"})

    assert answer.status_code == 400
    statuses = [(await api.get("/contacts")).status_code for _ in range(left + 1)]
    assert statuses == [200] * left + [429]


async def test_a_body_that_is_beyond_the_limit_is_not_read(api: httpx2.AsyncClient, services: Services) -> None:
    await exhaust(api)
    body = orjson.dumps({**SEND, "extra": "x" * 5_000})

    answer = await api.post("/sms/send", content=body, headers={"Content-Type": "application/json"})

    assert refusal(answer)[:2] == (429, "rate_limited")
    assert await MESSAGES.count(services) == 0


async def test_a_body_that_exceeds_the_limit_is_refused_with_one_header_of_each_name(api: httpx2.AsyncClient) -> None:
    await exhaust(api, 2)

    answer = await api.post("/contacts", content=b"[" * 5_000, headers={"Content-Type": "application/json"})

    assert answer.status_code == 429
    assert [len(answer.headers.get_list(name)) for name in ("ratelimit", "ratelimit-policy")] == [1, 1]


async def test_another_key_is_not_held_up(api: httpx2.AsyncClient, account: Opened) -> None:
    await exhaust(api)

    answer = await api.get("/contacts", headers={"Authorization": f"Bearer {account.auto_key}"})

    assert answer.status_code == 200


async def test_an_answer_without_a_key_has_no_rate_limit_header(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/contacts")

    assert answer.status_code == 401
    assert "ratelimit" not in answer.headers
