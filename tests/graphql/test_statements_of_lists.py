"""No list of the contract is read with a statement for each of its records."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_list_type,
    is_required_argument,
)

from app.domain.accounts.scopes import ALL
from app.domain.campaigns.audience import Audience
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.graphql.execution.turns import LARGE_UNITS
from app.graphql.schema import CORE
from app.services import Services
from tests.factories.contacts import CONTACTS
from tests.factories.planting import plant
from tests.factories.tables import Rows
from tests.graphql.test_linked_records import session_statements

pytestmark = pytest.mark.anyio

MANY = 100
"""The number of records of each table in the second count."""

UNASKED = {"find_contacts", "notice_settings", "notices", "validate_contacts"}
"""Lists of records that their optional arguments name, and lists of a signed-in user: a key gets nothing."""

IDS = {"campaign_id": "campaigns", "conversation_id": "conversations", "sequence_id": "sequences"}
"""The tables of the records that required arguments name."""

VALID: dict[str, dict[str, Any]] = {
    "account_jobs": {"kind": "tag_contacts", "counts": {}, "status": "done"},
    "audit_entries": {"action": "account_changed"},
    "ai_agents": {"status": "paused", "mode": "approve"},
    "ai_agent_runs": {"status": "done", "outcome": "sent", "gates": [], "passages": []},
    "automations": {
        "status": "active",
        "trigger": {"kind": "missed_reply", "hours": 4},
        "actions": [],
        "filter": None,
    },
    "automation_runs": {"status": "done", "conditions": [], "results": []},
    "booking_texts": {"kind": "confirmation", "status": "sent"},
    "bookings": {"status": "booked"},
    "campaign_recipients": {"state": "sent", "reason": ""},
    "campaigns": {"status": "draft", "reason": "", "audience": Audience(everyone=True).to_json()},
    "contacts": {"time_zone_source": None, "status": "active", "pipeline_stage": "won"},
    "conversation_entries": {"kind": "closed", "ai_state": None},
    "conversations": {"status": "open", "ai_state": "none"},
    "crm_connections": {"state": "authorized", "sync": "done"},
    "crm_pushes": {"kind": "inbound", "status": "done"},
    "custom_fields": {"type": "text"},
    "integration_events": {"status": "applied"},
    "integrations": {"status": "active"},
    "messages": {"encoding": "GSM-7", "error_code": None, "media": None, "deferral_rule": None},
    "notices": {"kind": "campaign"},
    "payments": {"status": "paid"},
    "plan_subscriptions": {"status": "active"},
    "quiet_hours_rules": {"weekdays": ["monday"], "jurisdiction": "GB"},
    "segments": {"filter": {"all": []}},
    "sequences": {"status": "active"},
    "watched_keywords": {"match": "exact"},
    "webhook_deliveries": {"status": "failed", "attempts": 11, "answer_status": 503, "event": "new_message"},
    "webhook_notices": {"kind": "failing"},
    "webhook_subscriptions": {"events": ["new_message"], "kind": "endpoint"},
}
"""Values of planted rows that the contract can show, by table."""


def rows_of(field: GraphQLField) -> tuple[str, GraphQLObjectType | GraphQLInterfaceType] | None:
    """Return the selection around the rows of a list, and their type; None for a field that is no list."""
    kind, named = get_nullable_type(field.type), get_named_type(field.type)
    if is_list_type(kind) and isinstance(named, GraphQLObjectType):
        return "%s", named
    for name in ("nodes", "items"):
        if isinstance(named, GraphQLObjectType) and name in named.fields:
            inner = get_named_type(named.fields[name].type)
            assert isinstance(inner, GraphQLObjectType | GraphQLInterfaceType)
            return f"{{ {name} %s }}", inner
    return None


def selection(kind: Any) -> str:
    """Select the fields of a record that need no argument, and a field of each record that it leads to."""
    inner = [name for name, field in kind.fields.items() if is_leaf_type(get_named_type(field.type))]
    for name, field in kind.fields.items():
        other = get_named_type(field.type)
        if isinstance(other, GraphQLObjectType) and not any(map(is_required_argument, field.args.values())):
            inner += [f"{name} {{ {leaf} }}" for leaf in leaves(other)[:1]]
        if isinstance(other, GraphQLObjectType) and "first" in field.args and (found := rows_of(field)):
            inner += [f"{name}_rows: {name}(first: 1) {found[0] % f'{{ {linked(found[1])} }}'}"]
    return f"{{ {' '.join(inner)} }}"


def linked(kind: Any) -> str:
    """Select a field of each record that a record leads to, or its first field if it leads to none."""
    others = {name: get_named_type(field.type) for name, field in kind.fields.items() if not field.args}
    found = [f"{name} {{ {leaves(other)[0]} }}" for name, other in others.items() if hasattr(other, "fields")]
    return " ".join(found) or leaves(kind)[0]


def leaves(kind: GraphQLObjectType | GraphQLInterfaceType) -> list[str]:
    return [name for name, field in kind.fields.items() if is_leaf_type(get_named_type(field.type)) and not field.args]


def lists() -> Iterator[str]:
    assert CORE.query_type
    for name, field in CORE.query_type.fields.items():
        needed = {arg for arg, each in field.args.items() if is_required_argument(each)}
        if rows_of(field) and needed <= IDS.keys() and name not in UNASKED:
            yield name


def document(name: str, ids: dict[str, int]) -> str:
    assert CORE.query_type
    field = CORE.query_type.fields[name]
    found = rows_of(field)
    assert found
    needed = [arg for arg, each in field.args.items() if is_required_argument(each)]
    size = [f"first: {MANY}"] if "first" in field.args else []
    given = ", ".join([f"{arg}: {ids[IDS[arg]]}" for arg in needed] + size)
    return f"{{ {name}{f'({given})' if given else ''} {found[0] % selection(found[1])} }}"


async def add(services: Services, account: Opened, numbers: Iterable[int]) -> dict[str, int]:
    """Add rows to every table, with values that the contract can show; return the last ids by table."""
    ids: dict[str, int] = {}
    async with services.database.pool.acquire() as connection, connection.transaction():
        for number in numbers:
            ids = await plant(connection, account.account_id, f"word{number}")
            await CONTACTS.where(id=ids["contacts"]).change(connection, phone=f"+1202555{1000 + number}")
        for table, values in VALID.items():
            await Rows(table).change(connection, **values)
    return ids


@pytest.fixture
async def ids(services: Services, account: Opened) -> dict[str, int]:
    """Add a record to every table; provide their ids."""
    return await add(services, account, [1])


async def count_statements(services: Services, account: Opened, queries: dict[str, str]) -> dict[str, int]:
    """Return the number of statements of each query by its plan, and by graphql-core with pauses."""
    executor, actor, counts = Executor(services), Actor(account.account_id, ALL, "test"), dict[str, int]()
    for name, query in queries.items():
        prepared = prepare(query)
        for way, each in (("plan", prepared), ("pauses", replace(prepared, plan=None, units=LARGE_UNITS))):
            with session_statements() as statements:
                result, _ = await executor.run(Run(each, {}, actor))
            assert result.errors is None, (query, result.errors)
            counts[f"{name} by {way}"] = len(statements)
    return counts


async def test_a_list_of_100_records_takes_as_many_statements_as_a_list_of_one(
    services: Services, account: Opened, ids: dict[str, int]
) -> None:
    queries = {name: document(name, ids) for name in lists()}
    assert len(queries) > 30

    one = await count_statements(services, account, queries)
    await add(services, account, range(2, MANY + 1))
    many = await count_statements(services, account, queries)

    assert {name: count for name, count in many.items() if count != one[name]} == {}


async def test_a_plan_answers_each_list_of_a_client_as_graphql_core_does(
    services: Services, account: Opened, ids: dict[str, int]
) -> None:
    executor, actor = Executor(services), Actor(account.account_id, ALL, "test")
    await add(services, account, [2])
    prepared = {name: prepare(document(name, ids)) for name in lists()}

    assert [name for name, each in prepared.items() if each.plan is None] == []
    for name, each in prepared.items():
        by_plan, _ = await executor.run(Run(each, {}, actor))
        plain, _ = await executor.run(Run(replace(each, plan=None), {}, actor))
        assert (by_plan.data, by_plan.errors) == (plain.data, None), name
