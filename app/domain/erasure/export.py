"""Export an account: every record of it that is no secret, read in batches."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

from app.db.engine import Connection, Pool

BATCH = 1000
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
OWN = "account_id = $1"


@dataclass(frozen=True, slots=True)
class Area:
    """One file of an export: the rows of a table, without the columns that are withheld."""

    table: str
    withheld: frozenset[str] = frozenset()
    condition: str = OWN


AREAS = (
    Area("accounts", condition="id = $1"),
    Area("users", frozenset({"password_hash"})),
    Area("invitations", frozenset({"hash"})),
    Area("sessions", frozenset({"hash"})),
    Area("audit_entries"),
    Area("api_keys", frozenset({"hash"})),
    Area("oauth_clients", frozenset({"secret_hash", "secret_maker_id"})),
    Area("oauth_grants"),
    Area("phone_numbers"),
    Area("contacts", frozenset({"searched"})),
    Area("suppressions"),
    Area("consents"),
    Area("conversations"),
    Area("messages"),
    Area("sequences"),
    Area("sequence_steps"),
    Area("sequence_enrollments"),
    Area("watched_keywords"),
    Area("ledger_entries"),
    Area("events"),
    Area("webhook_subscriptions", frozenset({"secret", "old_secret", "old_secret_until"})),
    Area("webhook_deliveries"),
    Area("webhook_attempts", condition="delivery_id IN (SELECT id FROM webhook_deliveries WHERE account_id = $1)"),
    Area("webhook_notices"),
)
"""The files of an export, in the order in which they are written."""

Record = dict[str, object]


async def read_snapshot(connection: Connection, account_id: int) -> AsyncGenerator[tuple[str, list[Record]]]:
    """Yield what `read_records` does as of one instant; the connection has a transaction open that read nothing yet."""
    await connection.execute(SNAPSHOT)
    async for batch in read_records(connection, account_id):
        yield batch


async def read_records(source: Connection | Pool, account_id: int) -> AsyncGenerator[tuple[str, list[Record]]]:
    """Yield the records of each area in batches of at most `BATCH`, the oldest first; an empty area yields none.

    Each batch is read by a statement of its own. Records that are added while their area is read are left out.
    """
    for area in AREAS:
        after, last = 0, await source.fetchval(f"SELECT coalesce(max(id), 0) FROM {area.table}")
        while rows := await source.fetch(_select(area), account_id, after, last, BATCH):
            after = rows[-1]["id"]
            yield area.table, [_record(area, row) for row in rows]


def _select(area: Area) -> str:
    return f"SELECT * FROM {area.table} WHERE {area.condition} AND id > $2 AND id <= $3 ORDER BY id LIMIT $4"


def _record(area: Area, row: "dict[str, object]") -> Record:
    return {name: value for name, value in row.items() if name not in area.withheld}
