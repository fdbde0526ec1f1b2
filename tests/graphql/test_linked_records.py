"""Fields that lead from one record to another, read at once for a whole page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from sqlalchemy import Engine, event

from app.domain.accounts.models import Role
from app.domain.accounts.queries import list_users
from app.domain.accounts.scopes import ALL
from app.domain.accounts.sign_in.authentication import actor_of
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.actors import ActorKind
from app.graphql.actors import actor_of as actor_named
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import API_KEYS
from tests.factories.contacts import CONTACTS
from tests.graphql.calls import codes, post, serving

pytestmark = pytest.mark.anyio

SEND = "mutation ($to: String!) { send_message(to: $to, body: %s, consent_attested: true) { message_id } }"
PAGE = "{ contacts { nodes { phone conversation { id assignee { email } last_message { body } } } } }"
OPTIMISTIC = """
mutation ($to: String!) {
  send_message(to: $to, body: "Hi", consent_attested: true, idempotency_key: "row-1") {
    message_id
    message { id body status to_number contact { phone } conversation_id }
  }
}
"""
NOW = """
mutation ($to: String!) {
  send_message_now(to: $to, body: "Hi", attestation: api) { message_id message { id body status sent_at } }
}
"""
DELETE = "mutation ($id: BigInt!) { delete_contact(id: $id) { deleted_id } }"
THREADS = "{ conversations { nodes { messages(first: 1) { total_count nodes { body } } contact { phone } } } }"
MESSAGES = "{ messages { nodes { conversation_id conversation { id contact { phone } } } } }"
LEDGER = "{ transactions(first: 2) { nodes { amount message { to_number } actor { kind key { name } user { id } } } } }"
VIEWER = "{ viewer { email role scopes session_id user { email created_at } } }"


@pytest.fixture
async def phones(services: Services, api: httpx2.AsyncClient) -> list[str]:
    """Text three people twice, with a key that holds every scope."""
    await API_KEYS.change(services, scopes=sorted(ALL))
    phones = [f"+1202555014{last}" for last in range(3)]
    for text in ('"First"', '"Second"'):
        for phone in phones:
            await ask(api, SEND % text, to=phone)
    return phones


@contextmanager
def session_statements() -> Iterator[list[str]]:
    """Collect the text of each statement of the session; the acceptor's own are not among them.

    Nor is the one that records the use of a key, once a minute.
    """
    statements: list[str] = []

    def note(*arguments: object) -> None:
        if not str(arguments[2]).startswith("UPDATE api_keys SET last_used_at"):
            statements.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", note)
    yield statements
    event.remove(Engine, "before_cursor_execute", note)


async def ask(api: httpx2.AsyncClient, query: str, **variables: Any) -> Any:
    answer = (await post(api, {"query": query, "variables": variables})).json()
    assert "errors" not in answer, answer
    return answer["data"]


async def test_contacts_lead_to_conversations_and_their_latest_messages(
    api: httpx2.AsyncClient, phones: list[str]
) -> None:
    nodes = (await ask(api, PAGE))["contacts"]["nodes"]

    shown = {node["phone"]: node["conversation"] for node in nodes}
    assert {phone: each["last_message"]["body"] for phone, each in shown.items()} == dict.fromkeys(phones, "Second")
    assert {each["assignee"] for each in shown.values()} == {None}


@pytest.mark.parametrize(
    ("query", "table"),
    [
        ("{ contacts { nodes { conversation { id } } } }", "conversations"),
        ("{ conversations { nodes { last_message { id } } } }", "messages"),
        ("{ contacts { nodes { conversation { last_message { id } } } } }", "messages"),
        ("{ conversations { nodes { messages { nodes { id } } } } }", "messages"),
        ("{ messages { nodes { conversation { id } } } }", "conversations"),
        ("{ transactions { nodes { message { id } } } }", "messages"),
    ],
)
async def test_the_records_that_a_page_leads_to_are_read_in_one_statement(
    api: httpx2.AsyncClient, phones: list[str], query: str, table: str
) -> None:
    with session_statements() as statements:
        await ask(api, query)

    assert len([each for each in statements if f"FROM {table}" in each]) == 1


async def test_a_send_answers_the_message_that_it_wrote(api: httpx2.AsyncClient, phones: list[str]) -> None:
    sent = (await ask(api, OPTIMISTIC, to=phones[0]))["send_message"]

    message = sent["message"]
    assert isinstance(message["conversation_id"], int)
    assert message == {
        "id": int(sent["message_id"]),
        "body": "Hi",
        "status": "pending",
        "to_number": phones[0],
        "contact": {"phone": phones[0]},
        "conversation_id": message["conversation_id"],
    }


async def test_a_send_that_waits_for_the_carrier_answers_the_message_as_sent(
    api: httpx2.AsyncClient, phones: list[str]
) -> None:
    taken = (await ask(api, NOW, to=phones[0]))["send_message_now"]

    message = taken["message"]
    assert (message["id"], message["body"], message["status"]) == (int(taken["message_id"]), "Hi", "sent")
    assert message["sent_at"] is not None


async def test_a_send_that_is_repeated_after_its_contact_was_deleted_answers_no_message(
    services: Services, api: httpx2.AsyncClient, phones: list[str]
) -> None:
    first = (await ask(api, OPTIMISTIC, to=phones[0]))["send_message"]
    contact = await CONTACTS.where(phone=phones[0]).only(services, "id")
    await ask(api, DELETE, id=contact)

    again = (await ask(api, OPTIMISTIC, to=phones[0]))["send_message"]

    assert again == {"message_id": first["message_id"], "message": None}


async def test_a_send_reads_no_message_where_none_is_selected(
    services: Services, api: httpx2.AsyncClient, phones: list[str]
) -> None:
    with session_statements() as statements:
        await ask(api, SEND % '"Third"', to=phones[0])
        await api.post("/sms/send", json={"to": phones[0], "message": "Fourth", "consent_attested": True})

    assert [each for each in statements if "FROM messages" in each] == []


async def test_a_conversation_pages_its_own_messages(api: httpx2.AsyncClient, phones: list[str]) -> None:
    nodes = (await ask(api, THREADS))["conversations"]["nodes"]

    assert [node["contact"]["phone"] for node in nodes] == phones[::-1]
    assert [node["messages"] for node in nodes] == [{"total_count": 2, "nodes": [{"body": "Second"}]}] * 3


async def test_the_lengths_of_lists_that_a_page_leads_to_are_counted_in_one_statement(
    api: httpx2.AsyncClient, phones: list[str]
) -> None:
    with session_statements() as statements:
        await ask(api, "{ conversations { nodes { messages { total_count } } } }")

    assert len([each for each in statements if "count(" in each]) == 1


@pytest.mark.parametrize(
    "window",
    ["first: 1", "first: 1, offset: 1", "last: 1", "first: 2", "first: 5, after: $cursor", "last: 2, before: $cursor"],
)
async def test_a_conversation_pages_its_messages_as_the_list_of_messages_does(
    api: httpx2.AsyncClient, phones: list[str], window: str
) -> None:
    [*_, oldest] = (await ask(api, "{ messages { edges { cursor } } }"))["messages"]["edges"]
    page = "nodes { id } total_count total_is_exact page_info { has_next_page has_previous_page }"
    query = f"query ($cursor: String) {{ conversations {{ nodes {{ id messages({window}) {{ {page} }} }} }} }}"
    if "$cursor" not in window:
        query = query.removeprefix("query ($cursor: String) ")

    for node in (await ask(api, query, cursor=oldest["cursor"]))["conversations"]["nodes"]:
        alone = f"query ($cursor: String) {{ messages(conversation_id: {node['id']}, {window}) {{ {page} }} }}"
        alone = alone if "$cursor" in window else alone.removeprefix("query ($cursor: String) ")
        assert node["messages"] == (await ask(api, alone, cursor=oldest["cursor"]))["messages"]
        assert node["messages"]["total_count"] == 2


async def test_messages_lead_to_their_conversations(api: httpx2.AsyncClient, phones: list[str]) -> None:
    nodes = (await ask(api, MESSAGES))["messages"]["nodes"]

    assert [node["conversation"]["contact"]["phone"] for node in nodes] == phones[::-1] * 2
    assert [node["conversation"]["id"] for node in nodes] == [node["conversation_id"] for node in nodes]


async def test_a_transaction_leads_to_its_message_and_to_the_key_that_caused_it(
    api: httpx2.AsyncClient, phones: list[str]
) -> None:
    nodes = (await ask(api, LEDGER))["transactions"]["nodes"]

    assert [node["message"] for node in nodes] == [{"to_number": phone} for phone in (phones[2], phones[1])]
    assert [node["actor"]["kind"] for node in nodes] == ["key", "key"]
    assert [bool(node["actor"]["key"]["name"]) for node in nodes] == [True, True]
    assert [node["actor"]["user"] for node in nodes] == [None, None]


@pytest.mark.parametrize(
    ("query", "scope"),
    [
        ("{ contacts { nodes { conversation { id } } } }", "contacts:read"),
        ("{ conversations { nodes { last_message { id } } } }", "conversations:read"),
        ("{ conversations { nodes { messages { nodes { id } } } } }", "conversations:read"),
        ("{ messages { nodes { conversation { id } } } }", "messages:read"),
        ("{ transactions { nodes { message { id } } } }", "billing:read"),
        ("{ transactions { nodes { actor { user { id } } } } }", "billing:read"),
        ("{ transactions { nodes { actor { key { id } } } } }", "billing:read"),
        (OPTIMISTIC.replace("$to: String!", '$to: String = "+12025550140"'), "messages:send"),
        (NOW.replace("$to: String!", '$to: String = "+12025550140"'), "messages:send"),
        ("{ viewer { user { id } } }", "account:read"),
        ("{ sessions { user { id } } }", "account:write"),
    ],
)
async def test_a_linked_record_needs_the_scope_to_read_it(
    services: Services, account: Opened, query: str, scope: str
) -> None:
    async with serving(services, Actor(account.account_id, frozenset({scope}))) as client:
        answer = await post(client, {"query": query})

    assert codes(answer) == ["insufficient_scope"]
    assert answer.json().get("data") is None


async def test_the_viewer_has_the_role_the_scopes_and_the_session_of_the_caller(
    services: Services, account: Opened
) -> None:
    async with unit_of(services, Actor(account.account_id, ALL)) as unit:
        owner = (await list_users(unit))[0]

    async with serving(services, actor_of(owner, session_id=7)) as client:
        viewer = (await ask(client, VIEWER))["viewer"]

    assert viewer.pop("user")["email"] == account.email
    assert viewer == {"email": account.email, "role": Role.owner, "scopes": sorted(ALL), "session_id": 7}


async def test_the_viewer_of_a_key_has_the_scopes_of_the_key_and_no_session(
    services: Services, api: httpx2.AsyncClient, account: Opened
) -> None:
    await API_KEYS.change(services, scopes=["account:read"])

    viewer = (await ask(api, "{ viewer { scopes session_id } }"))["viewer"]

    assert viewer == {"scopes": ["account:read"], "session_id": None}


@pytest.mark.parametrize(
    ("label", "kind", "id"),
    [
        ("user:5", ActorKind.user, 5),
        ("key:6", ActorKind.key, 6),
        ("grant:7", ActorKind.application, 7),
        ("sequence:8", ActorKind.sequence, 8),
        ("automation:9", ActorKind.automation, 9),
        ("carrier:sandbox", ActorKind.carrier, None),
        ("system", ActorKind.service, None),
        ("command line", ActorKind.service, None),
    ],
)
def test_a_label_names_an_actor(label: str, kind: ActorKind, id: int | None) -> None:
    actor = actor_named(label)

    assert (actor.kind, actor.id, actor.label) == (kind, id, label)
