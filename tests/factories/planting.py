"""Inserts a row into every table with rows of an account; each text contains a word to search for."""

import itertools
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import ARRAY, JSON, Boolean, Column, DateTime, Float, Interval, LargeBinary, Numeric, Table, Text

from app.bootstrap import METADATA
from tests.factories.tables import BY_TRIGGERS, Rows, Source, ago, open_pool

OF_THE_SERVICE = frozenset(
    {
        "erased_texts",
        "inbound_listings",
        "message_marks",
        "oauth_requests",
        "oauth_signing_keys",
        "payment_installations",
        "smpp_deliveries",
        "smpp_leases",
        "token_buckets",
        "unmatched_callbacks",
    }
)
"""Tables without rows of accounts."""

MADE_ELSEWHERE = frozenset({"accounts", "carrier_erasures"}) | BY_TRIGGERS
"""The account itself, what its erasure writes, and what triggers write."""

ONE_EACH = frozenset({"balance_alerts"})
"""Tables with at most one row of an account."""

POINTERS = {
    "account_id": "accounts",
    "agent_id": "ai_agents",
    "campaign_id": "campaigns",
    "contact_id": "contacts",
    "delivery_id": "webhook_deliveries",
    "event_id": "events",
    "job_id": "account_jobs",
    "message_id": "messages",
    "reference": "messages",
    "subscription_id": "webhook_subscriptions",
}
"""Columns that refer to a row of another table without a foreign key."""

PLAIN: Mapping[str, dict[str, Any]] = {
    "ai_agent_runs": {"status": "done"},
    "ai_agents": {"status": "paused", "mode": "shadow", "number_ids": [], "days": []},
    "ai_knowledge": {"kind": "faq"},
    "api_keys": {"revoked_at": None, "prefix": "svc_planted"},
    "carrier_connections": {
        "kind": "sandbox",
        "settings": {},
        "credentials": None,
        "previous_credentials": None,
        "status": "active",
    },
    "campaigns": {"status": "draft", "due_at": None, "deleted_at": None},
    "carrier_ids": {"carrier": "sandbox", "direction": "outbound", "parts": 1},
    "contacts": {"pipeline_stage": "won", "status": "opted_out", "held_until": None},
    "failed_reactions": {"next_attempt_at": None},
    "ledger_entries": {"type": "debit", "amount": 0, "balance_after": 0},
    "creators": {"creator_key_id": None, "creator_user_id": None},
    "messages": {"status": "sent", "direction": "outbound", "carrier": "sandbox"},
    "phone_numbers": {"is_primary": False, "status": "active"},
    "sequence_enrollments": {"status": "exited"},
    "sequences": {"exit_stages": ["won"], "window_days": ["monday"]},
    "status_queries": {"carrier": "sandbox"},
    "suppressions": {"scope_type": "account"},
    "users": {"role": "member", "removed_at": None},
    "automations": {"status": "paused"},
    "automation_runs": {"due_at": None, "status": "done", "chain": []},
    "waiting_mails": {"invitation_id": None, "kind": "notice", "attempts": 1},
    "webhook_deliveries": {"status": "delivered"},
    "webhook_hours": {"bucket": 7},
    "crm_connections": {"state": "lost", "leased_until": None},
    "crm_pushes": {"kind": "inbound", "status": "done"},
    "crm_sends": {"status": "sent"},
    "writer_calls": {"status": "done"},
    "webhook_subscriptions": {"status": "active", "wake_at": None, "leased_until": None},
}
"""Values of a planted row required by constraints or the tests' jobs."""

CREATORS = (
    {"key_id": None},
    {"creator_grant_id": None, "creator_key_id": "api_keys"},
    {"creator_grant_id": None, "creator_user_id": "users"},
)
"""The creators of records and of keys: a grant, a key, a user."""

VALUES: tuple[tuple[type, Callable[[str], Any]], ...] = (
    (ARRAY, lambda text: [text]),
    (JSON, lambda text: {"text": text}),
    (Text, lambda text: text),
    (LargeBinary, str.encode),
    (DateTime, lambda _: ago()),
    (Interval, lambda _: timedelta(hours=1)),
    (Boolean, lambda _: True),
    (Float, lambda _: 1.0),
    (Numeric, lambda _: 1),
)
FIND_COLUMNS = "SELECT table_name::text, column_name::text FROM information_schema.columns"

_numbers = itertools.count(1)


async def plant(source: Source, account_id: int, word: str) -> dict[str, int]:
    """Insert a row into every table for an account, parents first; return the ids by table.

    An older schema has not all tables and columns.
    """
    ids: dict[str, Any] = {"accounts": account_id}
    there = set(map(tuple, await open_pool(source).fetch(FIND_COLUMNS)))
    own = [table for table in METADATA.sorted_tables if table.name not in OF_THE_SERVICE | MADE_ELSEWHERE]
    names = {name for name, _ in there}
    waiting = [table for table in own if table.name in names]
    for table in [table for table in waiting if table.name in ONE_EACH]:
        if await Rows(table.name).where(account_id=account_id).count(source):
            waiting.remove(table)
    while waiting:
        table = next(each for each in waiting if _named(each) & names <= ids.keys())
        waiting.remove(table)
        for more in CREATORS if table.name == "creators" else ({},):
            named = {name: ids.get(value, value) if value else None for name, value in more.items()}
            row = _row(table, ids, word) | PLAIN.get(table.name, {}) | _given(table, ids, word) | named
            row = {name: value for name, value in row.items() if (table.name, name) in there}
            ids[table.name] = await Rows(table.name).insert(source, **row)
    return ids


def _given(table: Table, ids: Mapping[str, Any], word: str) -> dict[str, Any]:
    """Return the carrier's id of the message, which is in two tables."""
    given = {"provider_message_id": f"{word} {ids.get('contacts')}"}
    return given if table.name in ("carrier_ids", "messages") else {}


def _named(table: Table) -> set[str]:
    """Return the tables that a table refers to."""
    parents = {key.column.table.name for key in table.foreign_keys} - {table.name}
    return parents | {POINTERS[column] for column in table.c.keys() & POINTERS.keys()}


def _row(table: Table, ids: Mapping[str, Any], word: str) -> dict[str, Any]:
    return {column.name: _value(column, ids, word) for column in table.c if not (column.identity or column.computed)}


def _value(column: Column[Any], ids: Mapping[str, Any], word: str) -> Any:
    if column.name in POINTERS:
        return ids.get(POINTERS[column.name])
    for key in column.foreign_keys:
        return ids.get(key.column.table.name)
    if isinstance(column.type, DateTime) and not column.type.timezone:
        return ago().replace(tzinfo=None)
    for kind, make in VALUES:
        if isinstance(column.type, kind):
            return make(f"{word} {column.table.name}.{column.name} {next(_numbers)}")
    return next(_numbers)
