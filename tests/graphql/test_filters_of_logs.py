"""Filters of long lists find a rare value by an index, without reading the history of the account."""

import re
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.bootstrap import METADATA
from app.domain.accounts.scopes import ALL
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.services import Services
from tests.factories.planting import plant
from tests.factories.tables import Rows
from tests.graphql.test_statements_of_lists import VALID

pytestmark = pytest.mark.anyio

COPIES = 3000
RARE = 9_000_000_000
"""An id that no other row has."""

LISTS = {"audit_entries": "audit_log", "ledger_entries": "transactions"}
"""Lists with other names than their tables."""

KEYS = {
    "ai_agent_runs": ("message_id",),
    "automation_runs": ("contact_id",),
    "bookings": ("external_id",),
    "conversations": ("contact_id",),
    "crm_pushes": ("message_id",),
    "integration_events": ("key",),
    "ledger_entries": ("message_id",),
    "webhook_deliveries": ("event_id",),
}
"""Columns that differ from copy to copy."""

FILTERS = [
    ("automation_runs", "status: canceled", {"status": "canceled"}),
    ("automation_runs", f"automation_id: {RARE}", {"automation_id": RARE}),
    ("ai_agent_runs", "outcome: failed", {"outcome": "failed"}),
    ("ai_agent_runs", "outcome: drafted", {"outcome": "drafted"}),
    ("ai_agent_runs", f"agent_id: {RARE}", {"agent_id": RARE}),
    ("integration_events", "status: failed", {"status": "failed"}),
    ("integration_events", f"integration_id: {RARE}", {"integration_id": RARE}),
    ("bookings", "status: canceled", {"status": "canceled"}),
    ("crm_pushes", "status: failed", {"status": "failed"}),
    ("crm_pushes", f"integration_id: {RARE}", {"integration_id": RARE}),
    ("audit_entries", "action: key_created", {"action": "key_created"}),
    ("audit_entries", f'actor: "key:{RARE}"', {"actor": f"key:{RARE}"}),
    ("webhook_deliveries", 'event: "new_contact"', {"event": "new_contact"}),
    ("webhook_deliveries", f"contact_id: {RARE}", {"contact_id": RARE}),
    ("webhook_deliveries", "answer: client_error", {"answer_status": 404}),
    ("webhook_deliveries", "answer: none", {"answer_status": None}),
    ("webhook_deliveries", "answer_status: 404", {"answer_status": 404}),
    ("webhook_deliveries", "answer_status: 204", {"answer_status": 204}),
    ("ledger_entries", "type: dispute", {"type": "dispute"}),
    ("conversations", "status: snoozed", {"status": "snoozed"}),
    ("conversations", "unread_only: true", {"unread_count": 2}),
    ("conversations", "possible_opt_out: true", {"possible_opt_out": True}),
]


@pytest.mark.parametrize(("table", "arguments", "rare"), FILTERS, ids=[f"{each[0]} {each[1]}" for each in FILTERS])
async def test_a_filter_reads_only_the_rows_that_fit_it(
    services: Services, account: Opened, table: str, arguments: str, rare: dict[str, Any]
) -> None:
    id = (await plant(services.database.pool, account.account_id, "word"))[table]
    if table in VALID:
        await Rows(table).change(services, **VALID[table])
    if table == "conversations":
        await Rows(table).change(services, possible_opt_out=False, unread_count=0)
    if table == "webhook_deliveries":
        await Rows("events").change(services, contact_id=RARE)
    await copy(services, table, id, rare)

    plan = await explain(
        services, account, f"{{ {LISTS.get(table, table)}({arguments}, first: 20) {{ nodes {{ id }} }} }}"
    )

    removed = [int(count) for count in re.findall(r"Rows Removed by Filter: (\d+)", plan)]
    assert sum(removed) <= 1, plan
    assert "Seq Scan" not in plan, plan
    assert int(re.findall(r"rows=(\d+)\.\d+ loops", plan)[0]) == 1, plan


async def copy(services: Services, table: str, id: int, rare: dict[str, Any]) -> None:
    """Copy a row often; give the first one, which a list shows last, a rare value."""
    keys = KEYS.get(table, ())
    columns = [column for column in METADATA.tables[table].c if not column.identity]
    values = [f"{each.name} || '' || n" if each.name in keys else each.name for each in columns]
    for place, each in enumerate(columns):
        if each.name in keys and each.type.python_type is int:
            values[place] = f"{each.name} + n"
    names = ", ".join(each.name for each in columns)
    copied = (
        f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM {table}, generate_series(1, $2) n WHERE id = $1"
    )
    async with services.database.pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")
        await connection.execute(copied, id, COPIES)
        await Rows(table).where(id=id).change(connection, **rare)
    await services.database.pool.execute(f"ANALYZE {table}")


async def explain(services: Services, account: Opened, query: str) -> str:
    """Return how PostgreSQL runs the last statement of a query."""
    sent: list[tuple[str, tuple[Any, ...]]] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: tuple[Any, ...], *_: Any) -> None:
        sent.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    result, _ = await Executor(services).run(Run(prepare(query), {}, Actor(account.account_id, ALL, "test")))
    event.remove(Engine, "before_cursor_execute", note)
    assert result.errors is None
    statement, parameters = sent[-1]
    lines = await services.database.pool.fetch(f"EXPLAIN ANALYZE {statement}", *parameters)
    return "\n".join(line["QUERY PLAN"] for line in lines)
