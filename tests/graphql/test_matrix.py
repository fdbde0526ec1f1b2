"""Every root field of the contract x {nobody, a key without the scope, another account, a key with it alone}."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from graphql import GraphQLField, GraphQLObjectType, get_named_type, is_leaf_type, is_required_argument
from sqlalchemy import Table

from app.bootstrap import METADATA, Services
from app.domain.accounts import service as accounts
from app.domain.accounts.scopes import ALL
from app.domain.accounts.service import NewKey
from app.domain.billing import service as billing
from app.domain.contacts import service as contacts
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit import Actor
from app.domain.messages.desk import Send
from app.domain.onboarding.service import Opened
from app.domain.webhooks import service as webhooks
from app.domain.webhooks.models import DeliveryStatus, Notice
from app.graphql.errors import refusal
from app.graphql.execute import SCOPES, Executor, prepare
from app.graphql.schema import CORE
from tests.conftest import unit_of

pytestmark = pytest.mark.anyio

MARK = "Tell-tale"
"""Stands in every text of the account that others must not see."""

PHONE = "+12025550143"
FREE_PHONE = "+12025550144"

SHOWS_NO_TEXT = {
    "balance",
    "conversation",
    "conversations",
    "event_samples",
    "last_update_id",
    "phone_numbers",
    "webhook_deliveries",
}
"""Queries whose answers hold no text that an account writes."""

EMPTY = {"nodes": [], "total_count": 0, "page_info": {"has_next_page": False, "end_cursor": None}}


@dataclass(frozen=True)
class World:
    """An account with one of everything, its actor, and another account that has nothing."""

    services: Services
    actor: Actor
    stranger: Actor
    ids: dict[str, int]

    async def run(self, field: str, actor: Actor | None) -> Any:
        """Run a root field with arguments that name what the account has; return its value, or raise."""
        text, variables = operation(field, ARGUMENTS.get(field, lambda _: {})(self.ids))
        result, _ = await Executor(self.services).run(prepare(text), variables, actor)
        if result.errors:
            raise refusal(result.errors[0])
        return (result.data or {})[field]

    async def outcome(self, field: str, actor: Actor | None) -> str:
        """Return the code of the refusal, or the value as JSON."""
        try:
            return orjson.dumps(await self.run(field, actor)).decode()
        except DomainError as error:
            return error.code

    async def rows(self, account_id: int | None = None) -> dict[str, list[str]]:
        """Return every row of the database, or of one account."""
        return {table.name: await self._rows(table, account_id) for table in METADATA.sorted_tables}

    async def _rows(self, table: Table, account_id: int | None) -> list[str]:
        owner = "id" if table.name == "accounts" else "account_id"
        condition = f"WHERE {owner} = {account_id}" if account_id and owner in table.columns else ""
        rows = await self.services.database.pool.fetch(f"SELECT t::text FROM {table.name} t {condition}")
        return sorted(row["t"] for row in rows)


ARGUMENTS: dict[str, Callable[[dict[str, int]], dict[str, Any]]] = {
    "contact": lambda ids: {"id": ids["contact"]},
    "conversation": lambda ids: {"id": ids["conversation"]},
    "message": lambda ids: {"id": ids["message"]},
    "create_api_key": lambda _: {"name": "Another", "scopes": []},
    "revoke_api_key": lambda ids: {"id": ids["key"]},
    "generate_copy": lambda _: {"description": "Half price on shoes this week"},
    "create_contact": lambda _: {"contact": {"phone": FREE_PHONE}},
    "update_contact": lambda ids: {"id": ids["contact"], "changes": {"first_name": "Changed"}},
    "delete_contact": lambda ids: {"id": ids["contact"]},
    "add_tag": lambda ids: {"id": ids["contact"], "tag": "vip"},
    "remove_tag": lambda ids: {"id": ids["contact"], "tag": MARK},
    "record_opt_out": lambda ids: {"id": ids["contact"], "method": "verbal"},
    "record_opt_in": lambda ids: {"id": ids["contact"], "method": "web_form", "text": "I agree."},
    "update_conversation": lambda ids: {"id": ids["conversation"], "changes": {"status": "closed"}},
    "review_opt_out": lambda ids: {"id": ids["conversation"], "opted_out": True},
    "webhook": lambda ids: {"id": ids["webhook"]},
    "event_samples": lambda _: {"event": "new_message"},
    "subscribe": lambda _: {"event": "new_contact", "target_url": "https://example.com/new"},
    "unsubscribe": lambda ids: {"id": ids["webhook"]},
    "create_webhook": lambda _: {"target_url": "https://example.com/new", "events": ["contact.created"]},
    "update_webhook": lambda ids: {"id": ids["webhook"], "changes": {"description": "Changed"}},
    "rotate_webhook_secret": lambda ids: {"id": ids["webhook"]},
    "send_test_webhook": lambda ids: {"id": ids["webhook"]},
    "replay_webhook_delivery": lambda ids: {"id": ids["delivery"]},
    "replay_webhook_deliveries": lambda ids: {
        "id": ids["webhook"],
        "status": "failed",
        "since": "2026-01-01T00:00:00Z",
    },
    "send_message": lambda ids: {
        "to": FREE_PHONE,
        "message": "Hello",
        "consent_attested": True,
        "from_phone_number_id": ids["number"],
    },
}
"""Good arguments of the fields that need some. A new field that needs arguments gets its line here."""

CREATES = {"create_api_key", "create_contact", "create_webhook", "generate_copy", "subscribe"}
"""Mutations that name nothing that exists: another account that runs one does so for itself."""

SAME_FOR_ALL = {"event_samples", "last_update_id"}
"""Queries that answer everybody the same; no update has been dispatched here."""

VALUE = ("{", "[", '"', "0")
"""How the JSON of a value begins, and no code."""


def roots() -> Iterator[tuple[str, str, GraphQLField]]:
    for kind in (CORE.query_type, CORE.mutation_type):
        assert kind
        yield from ((kind.name, name, field) for name, field in kind.fields.items())


FIELDS = {name: field for _, name, field in roots()}
QUERIES = [name for kind, name, _ in roots() if kind == "Query"]
MUTATIONS = [name for kind, name, _ in roots() if kind == "Mutation"]
NEEDED = {name: SCOPES[kind, name] for kind, name, _ in roots()}


def operation(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Write the operation of one root field, and select all of the answer that needs no further scope."""
    field, kind = FIELDS[name], "query" if name in QUERIES else "mutation"
    missing = [arg for arg, each in field.args.items() if is_required_argument(each) and arg not in arguments]
    assert missing == [], f"ARGUMENTS lacks {missing} of {name}"
    declared = ", ".join(f"${arg}: {field.args[arg].type}" for arg in arguments)
    passed = ", ".join(f"{arg}: ${arg}" for arg in arguments)
    head, call = (f"({declared})", f"({passed})") if arguments else ("", "")
    return f"{kind}{head} {{ {name}{call} {selection(field)} }}", arguments


def selection(field: GraphQLField) -> str:
    kind = get_named_type(field.type)
    if is_leaf_type(kind):
        return ""
    assert isinstance(kind, GraphQLObjectType)
    inner = [f"{name} {selection(each)}" for name, each in kind.fields.items() if (kind.name, name) not in SCOPES]
    return "{ " + " ".join(inner) + " }"


@pytest.fixture
async def world(services: Services, account: Opened, new_account: Callable[..., Any]) -> World:
    """Give the account one of everything, with the mark in it."""
    stranger = await new_account(company_name="Others")
    actor = Actor(account.account_id, ALL, "owner")
    async with unit_of(services, actor) as unit:
        company = await accounts.queries.get_own(unit)
        company.company_name = MARK
        key, _ = await accounts.create_key(unit, services.secret, NewKey(MARK))
        contact = await contacts.create(unit, {"phone": PHONE, "first_name": MARK, "tags": [MARK]})
        await billing.grant(unit, 5, MARK)
        url, topics = "https://example.com/hooks", ["message.inbound"]
        webhook = await webhooks.create_webhook(unit, services.webhooks, url, topics, MARK)
        delivery = await webhooks.send_test(unit, webhook.id)
        delivery.status, delivery.next_attempt_at = DeliveryStatus.failed, None
        await unit.save(Notice(account_id=account.account_id, subscription_id=webhook.id, kind="failing", text=MARK))
    sent = await services.desk.accept(actor, Send(PHONE, MARK, consent_attested=True))
    conversation = await services.database.pool.fetchval("SELECT id FROM conversations")
    ids = {
        "contact": contact.id,
        "conversation": conversation,
        "message": sent.message_id,
        "key": key.id,
        "number": account.phone_number_id,
        "webhook": webhook.id,
        "delivery": delivery.id,
    }
    return World(services, actor, Actor(stranger.account_id, ALL, "stranger"), ids)


async def test_nobody_is_refused_every_field_and_changes_nothing(world: World):
    before = await world.rows()

    outcomes = {field: await world.outcome(field, None) for field in FIELDS}

    assert outcomes == dict.fromkeys(FIELDS, "unauthenticated")
    assert await world.rows() == before


async def test_every_scope_but_the_right_one_is_refused_and_changes_nothing(world: World):
    before = await world.rows()

    outcomes = {
        field: await world.outcome(field, replace(world.actor, scopes=ALL - {NEEDED[field]})) for field in FIELDS
    }

    assert outcomes == dict.fromkeys(FIELDS, "insufficient_scope")
    assert await world.rows() == before


@pytest.mark.parametrize("field", QUERIES)
async def test_the_right_scope_alone_reads(world: World, field: str):
    answer = await world.outcome(field, replace(world.actor, scopes=frozenset({NEEDED[field]})))

    assert (MARK in answer) is (field not in SHOWS_NO_TEXT)
    assert answer.startswith(VALUE)


@pytest.mark.parametrize("field", MUTATIONS)
async def test_the_right_scope_alone_changes(world: World, field: str):
    before = await world.rows(world.actor.account_id)

    answer = await world.outcome(field, replace(world.actor, scopes=frozenset({NEEDED[field]})))

    assert answer.startswith(VALUE), answer
    assert await world.rows(world.actor.account_id) != before


@pytest.mark.parametrize("field", QUERIES)
async def test_another_account_sees_nothing(world: World, field: str):
    before = await world.rows()

    answer = await world.outcome(field, world.stranger)

    assert MARK not in answer
    assert answer == "not_found" if field in ARGUMENTS.keys() - SAME_FOR_ALL else answer.startswith(VALUE)
    assert (answer == await world.outcome(field, world.actor)) is (field in SAME_FOR_ALL)
    if "nodes" in answer and field != "transactions":
        assert orjson.loads(answer) == EMPTY
    assert await world.rows() == before


@pytest.mark.parametrize("field", MUTATIONS)
async def test_another_account_changes_nothing(world: World, field: str):
    before = await world.rows(world.actor.account_id)

    answer = await world.outcome(field, world.stranger)

    assert answer.startswith(VALUE) if field in CREATES else answer == "not_found"
    assert await world.rows(world.actor.account_id) == before
