"""Records that a repeated request with an idempotency key makes once."""

from typing import Any

import httpx2
import pytest

from app.domain.accounts.api_keys import NewKey, create_key
from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import API_KEYS
from tests.factories.agents import AGENTS
from tests.factories.automations import AUTOMATIONS
from tests.factories.campaigns import CAMPAIGNS
from tests.factories.conversations import CONVERSATION_ENTRIES, CONVERSATIONS
from tests.factories.events import IDEMPOTENCY_KEYS
from tests.factories.oauth import OAUTH_CLIENTS
from tests.factories.segments import SEGMENTS
from tests.factories.sequences import SEQUENCES
from tests.factories.tables import Rows
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.graphql.calls import post

pytestmark = pytest.mark.anyio

MADE = {
    "create_sequence": ('name: "{0}", steps: [{{delay_minutes: 0, body: "Hi!"}}]', "id name", SEQUENCES),
    "create_webhook": (
        'target_url: "https://127.0.0.1/{0}", events: ["message.inbound"]',
        "id secret",
        WEBHOOK_SUBSCRIPTIONS,
    ),
    "create_api_key": ('name: "{0}"', "id key kind", API_KEYS.where(name="Shop")),
    "create_automation_key": ('name: "{0}"', "id key kind", API_KEYS.where(name="Shop")),
    "create_oauth_client": (
        'name: "{0}", redirect_uris: ["https://shop.example/back"]',
        "client_id client_secret client { id }",
        OAUTH_CLIENTS.where(name="Shop"),
    ),
    "create_campaign": (
        'campaign: {{name: "{0}", body: "Hi!", audience: {{tags: ["vip"]}}}}',
        "id name",
        CAMPAIGNS,
    ),
    "create_segment": (
        'name: "{0}", filter: {{any: [{{field: "tags", op: has_any, value: ["vip"]}}]}}',
        "id name",
        SEGMENTS,
    ),
    "create_automation": (
        'automation: {{name: "{0}", trigger: {{kind: schedule, at: "10:00", weekdays: [monday]}}, '
        'actions: [{{kind: add_tag, tag: "vip"}}]}}',
        "id name",
        AUTOMATIONS,
    ),
    "create_ai_agent": (
        'name: "{0}", instructions: "Be kind.", details: {{weekdays: [monday], opens_at: "09:00"}}',
        "id name",
        AGENTS,
    ),
}
"""The arguments, the selected fields and the rows of each mutation."""


async def make(api: httpx2.AsyncClient, field: str, name: str = "Shop", key: str = "k") -> Any:
    arguments, fields, _ = MADE[field]
    query = f'mutation {{ {field}({arguments.format(name)}, idempotency_key: "{key}") {{ {fields} }} }}'
    answer = (await post(api, {"query": query})).json()
    return answer["errors"][0]["extensions"]["code"] if "errors" in answer else answer["data"][field]


async def key_of(services: Services, account: Opened) -> str:
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        _, key = await create_key(unit, services.secret, NewKey("Setup", scopes=sorted(ALL)))
    return key.text


@pytest.fixture
async def api(http: httpx2.AsyncClient, services: Services, account: Opened) -> httpx2.AsyncClient:
    """Provide a client with all scopes."""
    http.headers["Authorization"] = f"Bearer {await key_of(services, account)}"
    return http


@pytest.mark.parametrize("field", MADE)
async def test_a_repeated_request_makes_one_record_and_answers_its_secret_again(
    api: httpx2.AsyncClient, services: Services, field: str
) -> None:
    rows: Rows = MADE[field][2]

    first, second = await make(api, field), await make(api, field)

    assert first == second
    assert await rows.count(services) == 1
    assert await make(api, field, "Another shop") == "idempotency_key_reused"
    assert await rows.count(services) == 1
    again = await make(api, field, key="k2")
    assert again not in (first, "conflict")


async def test_a_repeated_note_is_added_once(api: httpx2.AsyncClient, services: Services, account: Opened) -> None:
    send = Send("+12025550143", "Hi", consent_attested=True)
    await services.acceptor.accept(Actor(account.account_id, ALL, "key:1"), send)
    id = await CONVERSATIONS.only(services, "id")

    async def add(body: str) -> Any:
        note = f'add_note(conversation_id: {id}, body: "{body}", idempotency_key: "k")'
        answer = (await post(api, {"query": f"mutation {{ {note} {{ id body }} }}"})).json()
        return answer["errors"][0]["extensions"]["code"] if "errors" in answer else answer["data"]["add_note"]

    first, second = await add("Call back"), await add("Call back")

    assert first == second
    assert first["body"] == "Call back"
    assert await add("Call tomorrow") == "idempotency_key_reused"
    assert await CONVERSATION_ENTRIES.read(services, "id", "body") == [(first["id"], "Call back")]


@pytest.mark.parametrize("field", ["create_automation_key", "create_oauth_client"])
async def test_another_caller_of_the_account_does_not_get_the_secret_of_a_stored_answer(
    api: httpx2.AsyncClient, services: Services, account: Opened, field: str
) -> None:
    assert (await make(api, field)) != "idempotency_key_reused"
    api.headers["Authorization"] = f"Bearer {await key_of(services, account)}"

    assert await make(api, field) == "idempotency_key_reused"


@pytest.mark.parametrize(("field", "secret"), [("create_api_key", "key"), ("create_oauth_client", "client_secret")])
async def test_a_stored_answer_has_its_secret_encrypted(
    api: httpx2.AsyncClient, services: Services, field: str, secret: str
) -> None:
    made = await make(api, field)

    [stored] = await IDEMPOTENCY_KEYS.read(services, "answer")
    assert made[secret]
    assert made[secret] not in str(stored)


@pytest.mark.parametrize(("field", "kind"), [("create_api_key", "svc"), ("create_automation_key", "auto")])
async def test_a_key_names_its_kind(api: httpx2.AsyncClient, field: str, kind: str) -> None:
    made = await make(api, field)

    assert (made["kind"], made["key"][: len(kind) + 1]) == (kind, f"{kind}_")
