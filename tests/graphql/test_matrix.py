"""Every root field of the contract x {nobody, a key without the scope, another account, a key with it alone}."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

from app.domain.accounts import api_keys, invitations, sessions
from app.domain.accounts import queries as accounts
from app.domain.accounts.api_keys import NewKey
from app.domain.accounts.keys import KeyKind
from app.domain.accounts.models import Role
from app.domain.accounts.scopes import ALL, GENERAL
from app.domain.accounts.service import add_user
from app.domain.accounts.sessions import Visitor
from app.domain.billing import service as billing
from app.domain.contacts import service as contacts
from app.domain.conversations import notes
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.messages.requests import Send
from app.domain.numbers import service as numbers
from app.domain.oauth import clients as oauth_clients
from app.domain.oauth.clients import NewClient
from app.domain.quiet_hours import service as quiet_hours
from app.domain.quiet_hours.service import NewRule
from app.domain.sequences import enrollments as drips
from app.domain.sequences import service as sequences
from app.domain.sequences.definition import NewStep
from app.domain.webhooks import service as webhooks
from app.domain.webhooks.models import DeliveryStatus, Notice
from app.graphql.execution.documents import SCOPES
from app.graphql.execution.errors import refusal
from app.graphql.execution.execute import Executor, Run
from app.graphql.schema import CORE
from app.services import Services
from tests.conftest import SAVED, opener, unit_of
from tests.factories.accounts import ACCOUNTS
from tests.factories.conversations import CONVERSATIONS
from tests.factories.crm import with_crm
from tests.factories.payments import with_till
from tests.factories.snapshots import rows
from tests.factories.tables import ahead
from tests.graphql.calls import prepared
from tests.graphql.matrix import ARGUMENTS, CREATES, MARK, OF_THE_CALLER, PHONE, SHOWS_NO_TEXT, STORES_NOTHING
from tests.graphql.records import (
    add_automation,
    add_connections,
    add_crm,
    add_integrations,
    add_payments,
    add_segment,
    add_texts,
    connect,
    make_agent,
    make_campaigns,
    make_details,
    make_files,
    with_own_carriers,
)

pytestmark = pytest.mark.anyio

NOWHERE = {"has_next_page": False, "has_previous_page": False, "start_cursor": None, "end_cursor": None}
EMPTY = {"nodes": [], "edges": [], "total_count": 0, "total_is_exact": True, "page_info": NOWHERE}


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
        result, _ = await Executor(self.services).run(Run(prepared(text), variables, actor))
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
        return await rows(self.services.database.pool, account_id)


GIVEN: dict[str, frozenset[str]] = {
    **dict.fromkeys(("invite_user", "change_role"), GENERAL),
    "merge_contacts": frozenset({"contacts:read"}),
    "suggest_reply": frozenset({"conversations:read"}),
    **dict.fromkeys(("sessions", "end_session", "oauth_grants", "revoke_oauth_grant"), frozenset({"account:write"})),
    **dict.fromkeys(("subscribe", "create_webhook", "bulk_enroll"), frozenset({"contacts:read"})),
    "update_keyword": frozenset({"messages:send"}),
    **dict.fromkeys(
        ("add_integration", "update_integration", "rotate_integration_secret", "take_over_integration"),
        frozenset({"contacts:write", "messages:send"}),
    ),
    **dict.fromkeys(
        ("connect_crm", "finish_crm_connection"),
        frozenset({"contacts:read", "contacts:write", "messages:read", "messages:send"}),
    ),
    **dict.fromkeys(
        ("create_automation", "update_automation", "set_automation_status"),
        frozenset({"messages:send", "contacts:write", "campaigns:send"}),
    ),
    **dict.fromkeys(
        (
            "take_over_webhook",
            "replay_webhook_delivery",
            "preview_webhook_replay_since",
            "replay_webhook_deliveries",
            "replay_chosen_webhook_deliveries",
        ),
        frozenset({"messages:read"}),
    ),
}
"""Scopes that an actor who is not signed in needs besides that of a field."""

SAME_FOR_ALL = {
    "available_scopes",
    "automation_templates",
    "ai_status",
    "carrier_kinds",
    "crm_kinds",
    "integration_kinds",
    "delivery_rates",
    "delivery_stats",
    "event_samples",
    "explain_send",
    "last_update_id",
    "measure_text",
    "notice_settings",
    "scheduled_messages",
    "scopes",
    "tariff",
}
"""Queries with the same answer for both accounts: no update was dispatched, no text is sent later,
they have one rate and region, and may text a phone alike.
"""

SEARCHES = {
    "carrier_lookup",
    "check_text",
    "contacts",
    "duplicate_contacts",
    "find_contacts",
    "phone_consent",
    "search",
    "sequences",
}
"""Queries that take arguments and find nothing of another account's, where others do not find the record named."""

VALUE = ("{", "[", '"', "0")
"""The first characters of a JSON value, which no code has."""


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
    assert isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
    kinds = CORE.get_possible_types(kind) if isinstance(kind, GraphQLInterfaceType) else (kind,)
    return "{ " + " ".join(f"... on {each.name} {{ {fields(each)} }}" for each in kinds) + " }"


def fields(kind: GraphQLObjectType) -> str:
    """Select the fields of a type that need no further scope."""
    inner = [f"{name} {selection(each)}" for name, each in kind.fields.items() if (kind.name, name) not in SCOPES]
    return " ".join(inner)


@pytest.fixture
async def world(services: Services) -> World:
    """Give a world to change."""
    return await SAVED.world(services, "matrix", lambda: make_world(services))


@pytest.fixture(scope="module")
async def kept_world(kept: Services) -> World:
    """Give the world that every test reads which changes none."""
    return await make_world(kept)


async def add_sequences(unit: UnitOfWork, contact_id: int) -> dict[str, int]:
    """Add sequences with an enrollment, with none, and with a paused one."""
    sequence, other, paused = [await sequences.create(unit, MARK, [NewStep(60, MARK)]) for _ in range(3)]
    enrolled = await drips.enroll(unit, sequence.id, contact_id)
    waiting = await drips.enroll(unit, paused.id, contact_id)
    await drips.pause(unit, waiting.enrollment_id)
    return {
        "sequence": sequence.id,
        "other_sequence": other.id,
        "enrollment": enrolled.enrollment_id,
        "paused_enrollment": waiting.enrollment_id,
    }


async def make_world(services: Services) -> World:
    """Open two accounts, and give one of them one of everything, with the mark in it."""
    open_account = opener(services)
    account, stranger = await open_account(), await open_account(company_name="Others")
    actor = Actor(account.account_id, ALL, "owner")
    async with unit_of(services, actor) as unit:
        (await accounts.get_own(unit)).company_name = MARK
        key, _ = await api_keys.create_key(unit, services.secret, NewKey(MARK, scopes=["account:write"]))
        automation_key, _ = await api_keys.create_key(unit, services.secret, NewKey(MARK, KeyKind.auto))
        contact = await contacts.create(unit, {"phone": PHONE, "first_name": MARK, "tags": [MARK]})
        made = [await make(unit) for make in (make_details, make_files, add_segment, add_payments, add_automation)]
        closed = await quiet_hours.add(unit, NewRule("GB", "00:00", "24:00", overrides_law=True, reason=MARK))
        await billing.grant(unit, 5, MARK)
        made.append(await add_sequences(unit, contact.id))
        template, keyword = await add_texts(unit)
        url, topics = "https://example.com/hooks", ["message.inbound"]
        unit.actor = replace(actor, key_id=key.id)
        webhook = await webhooks.create_webhook(unit, services.webhooks, url, topics, MARK)
        unit.actor = actor
        delivery = await webhooks.send_test(unit, webhook.id)
        delivery.status, delivery.next_attempt_at = DeliveryStatus.failed, None
        await unit.save(Notice(account_id=account.account_id, subscription_id=webhook.id, kind="failing", text=MARK))
        client, _ = await oauth_clients.create(
            unit, services.oauth.tokens, NewClient(MARK, ["https://example.com/callback"])
        )
        grant = await connect(unit, client)
        user = await add_user(unit, "user@example.com", MARK, MARK)
        invitation = await invitations.invite(unit, services.authentication.tokens, f"{MARK}@example.com", Role.service)
        session, _ = await sessions.begin(unit, services.authentication.tokens, user, Visitor("", MARK))
    sent = await services.acceptor.accept(actor, Send(PHONE, MARK, consent_attested=True))
    conversation = await CONVERSATIONS.only(services, "id")
    ids = {
        "note": await add_note(services, actor, conversation),
        "contact": contact.id,
        **{name: id for each in made for name, id in each.items()},
        "quiet_hours": closed.id,
        **await add_connections(services, actor, account.phone_number),
        **(integrations := await add_integrations(services, actor)),
        **await add_crm(services, actor, integrations["integration"]),
        "conversation": conversation,
        "message": sent.message_id,
        "key": key.id,
        "automation_key": automation_key.id,
        "number": account.phone_number_id,
        "other_number": await add_number(services, actor),
        "template": template.id,
        **await make_campaigns(services, actor),
        **await make_agent(services, account, actor, PHONE),
        "keyword": keyword.id,
        "webhook": webhook.id,
        "delivery": delivery.id,
        "client": client.id,
        "grant": grant.id,
        "user": user.id,
        "session": session.id,
        "invitation": invitation.id,
    }
    return World(
        with_crm(with_till(with_own_carriers(services))), actor, Actor(stranger.account_id, ALL, "stranger"), ids
    )


async def add_note(services: Services, actor: Actor, conversation_id: int) -> int:
    async with unit_of(services, actor) as unit:
        return (await notes.add(unit, conversation_id, MARK)).id


async def add_number(services: Services, actor: Actor) -> int:
    async with unit_of(services, actor) as unit:
        return (await numbers.assign_sandbox_number(unit)).id


async def test_an_anonymous_caller_is_refused_every_field_and_changes_nothing(kept_world: World):
    before = await kept_world.rows()

    outcomes = {field: await kept_world.outcome(field, None) for field in FIELDS}

    assert outcomes == dict.fromkeys(FIELDS, "unauthenticated")
    assert await kept_world.rows() == before


async def test_every_scope_but_the_right_one_is_refused_and_changes_nothing(kept_world: World):
    before = await kept_world.rows()

    outcomes = {
        field: await kept_world.outcome(field, replace(kept_world.actor, scopes=ALL - {NEEDED[field]}))
        for field in FIELDS
    }

    assert outcomes == dict.fromkeys(FIELDS, "insufficient_scope")
    assert await kept_world.rows() == before


@pytest.mark.parametrize("field", QUERIES)
async def test_the_right_scope_alone_reads(kept_world: World, field: str):
    scopes = frozenset({NEEDED[field]}) | GIVEN.get(field, frozenset())

    answer = await kept_world.outcome(field, replace(kept_world.actor, scopes=scopes))

    assert (MARK in answer) is (field not in SHOWS_NO_TEXT)
    assert answer.startswith(VALUE)


@pytest.mark.parametrize("field", MUTATIONS)
async def test_the_right_scope_alone_changes(world: World, field: str):
    if field == "withdraw_account_deletion":
        await ACCOUNTS.where(id=world.actor.account_id).change(world.services, deletion_at=ahead(days=1))
    before = await world.rows(world.actor.account_id)

    scopes = frozenset({NEEDED[field]}) | GIVEN.get(field, frozenset())

    answer = await world.outcome(field, replace(world.actor, scopes=scopes))

    assert answer.startswith(VALUE), answer
    assert (await world.rows(world.actor.account_id) != before) is (field not in STORES_NOTHING)


@pytest.mark.parametrize("field", QUERIES)
async def test_another_account_sees_nothing(kept_world: World, field: str):
    before = await kept_world.rows()

    answer = await kept_world.outcome(field, kept_world.stranger)

    assert MARK not in answer
    assert answer == "not_found" if field in ARGUMENTS.keys() - SAME_FOR_ALL - SEARCHES else answer.startswith(VALUE)
    assert (answer == await kept_world.outcome(field, kept_world.actor)) is (field in SAME_FOR_ALL)
    if "nodes" in answer and field not in {"audit_log", "phone_consent", "transactions"}:
        assert orjson.loads(answer) == EMPTY
    assert await kept_world.rows() == before


@pytest.fixture
def reached(request: pytest.FixtureRequest, field: str) -> World:
    """Give a world in which others reach for a field, and create something only in one of its own."""
    return request.getfixturevalue("world" if field in CREATES else "kept_world")


@pytest.mark.parametrize("field", MUTATIONS)
async def test_another_account_changes_nothing(reached: World, field: str):
    before = await reached.rows(reached.actor.account_id)

    answer = await reached.outcome(field, reached.stranger)

    assert answer.startswith(VALUE) if field in CREATES else answer == OF_THE_CALLER.get(field, "not_found")
    assert await reached.rows(reached.actor.account_id) == before
