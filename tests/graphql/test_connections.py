"""Common rules of all paginated lists of the contract."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import orjson
import pytest
from graphql import GraphQLObjectType

from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.graphql.schema import CORE
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.rest.answers import data

pytestmark = pytest.mark.anyio

assert CORE.query_type
CONNECTIONS: dict[str, Any] = {
    name: field
    for name, field in CORE.query_type.fields.items()
    if getattr(getattr(field.type, "of_type", None), "name", "").endswith("Connection")
}
ARGUMENTS = {"campaign_recipients": "campaign_id: 1, ", "enrollments": "sequence_id: 1, "}
PAGING = ("first", "after", "last", "before", "offset")
SEALED = "edges { cursor } page_info { has_previous_page has_next_page start_cursor end_cursor }"

Ask = Callable[[str], Awaitable[Any]]


@pytest.fixture
def ask(services: Services, account: Opened) -> Ask:
    actor, executor = Actor(account.account_id, ALL, "test"), Executor(services)

    async def run(text: str) -> Any:
        result, _ = await executor.run(Run(prepare(text), None, actor))
        return result

    return run


def test_every_list_with_pages_is_a_connection() -> None:
    paged = {
        f"{kind.name}.{name}"
        for kind in CORE.type_map.values()
        if isinstance(kind, GraphQLObjectType)
        for name, field in kind.fields.items()
        if {"first", "after", "offset", "last", "before"} & field.args.keys()
    }

    assert paged >= {f"Query.{name}" for name in CONNECTIONS}
    assert len(CONNECTIONS) >= 9


@pytest.mark.parametrize("name", CONNECTIONS)
def test_a_connection_is_paged_in_both_directions(name: str) -> None:
    field = CONNECTIONS[name]
    connection: Any = field.type.of_type

    assert [argument for argument in field.args if argument in PAGING] == list(PAGING)
    assert [*connection.fields] == ["nodes", "edges", "total_count", "total_is_exact", "page_info"]
    item = str(connection.fields["nodes"].type).strip("[]!")
    assert str(connection.fields["edges"].type) == f"[{item}Edge!]!"
    edge: Any = CORE.type_map[f"{item}Edge"]
    assert {key: str(each.type) for key, each in edge.fields.items()} == {"node": f"{item}!", "cursor": "String!"}


@pytest.mark.parametrize("name", CONNECTIONS)
async def test_a_connection_takes_sealed_cursors_of_its_own_only(
    name: str, ask: Ask, services: Services, account: Opened
) -> None:
    others = services.cursors.close("[7]", account.account_id, "another list")
    for argument, start in (("after", "start"), ("before", "end")):
        for cursor in ("[7]", base64.urlsafe_b64encode(b"[7]").decode(), others):
            given = ARGUMENTS.get(name, "") + f"{argument}: {cursor!r}".replace("'", '"')
            result = await ask(f"{{ {name}({given}) {{ total_count }} }}")

            assert [str(error.original_error) for error in result.errors] == [
                f"{argument} is not a cursor of this list. Leave it out to begin at the {start}."
            ]


@pytest.mark.parametrize("name", CONNECTIONS)
async def test_a_connection_takes_one_direction(name: str, ask: Ask) -> None:
    result = await ask(f"{{ {name}({ARGUMENTS.get(name, '')}first: 1, last: 1) {{ total_count }} }}")

    assert [str(error.original_error) for error in result.errors] == [
        "first and last must not be given together. Give one of the two."
    ]


async def test_cursors_of_edges_lead_through_a_list_in_both_directions(api: httpx2.AsyncClient, ask: Ask) -> None:
    for number in range(3):
        sms = {"to": f"+1202555010{number}", "message": "hi", "consent_attested": True}
        data(await api.post("/sms/send", json=sms))

    for name in ("messages", "conversations", "transactions", "contacts"):
        whole = (await ask(f"{{ {name} {{ edges {{ cursor node {{ id }} }} nodes {{ id }} }} }}")).data[name]
        cursors = [edge["cursor"] for edge in whole["edges"]][:3]
        forward = await ask(f'{{ {name}(first: 1, after: "{cursors[0]}") {{ {SEALED} }} }}')
        backward = await ask(f'{{ {name}(last: 1, before: "{cursors[2]}") {{ {SEALED} }} }}')

        assert [edge["node"] for edge in whole["edges"]] == whole["nodes"]
        assert forward.data == backward.data
        assert forward.data[name] == {
            "edges": [{"cursor": cursors[1]}],
            "page_info": {
                "has_previous_page": True,
                "has_next_page": True,
                "start_cursor": cursors[1],
                "end_cursor": cursors[1],
            },
        }
        for cursor in cursors:
            with pytest.raises(ValueError, match=r"."):
                orjson.loads(base64.urlsafe_b64decode(cursor))


async def test_groups_of_duplicates_follow_the_sealed_cursor_of_the_same_search(
    services: Services, account: Opened, ask: Ask
) -> None:
    for number, email in enumerate(("a@example.com", "b@example.com") * 2):
        phone = f"+1202555010{number}"
        await CONTACTS.insert(services, account_id=account.account_id, phone=phone, email=email)
    [first] = (await ask("{ duplicate_contacts(first: 1) { value cursor } }")).data["duplicate_contacts"]

    following = await ask(f'{{ duplicate_contacts(after: "{first["cursor"]}") {{ value }} }}')
    refused = [
        await ask(f'{{ duplicate_contacts({given}: "{cursor}") {{ value }} }}')
        for given, cursor in (("after", "a@example.com"), ("kind: phone, after", first["cursor"]))
    ]

    assert (first["value"], following.data["duplicate_contacts"]) == ("a@example.com", [{"value": "b@example.com"}])
    assert b"example" not in base64.urlsafe_b64decode(first["cursor"] + "===")
    assert [str(error.original_error) for each in refused for error in each.errors] == [
        "after is not a cursor of this list. Leave it out to begin at the start."
    ] * 2
