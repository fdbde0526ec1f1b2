"""Export an account: every record of it that is no secret, read in batches."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any

from app.db.engine import Connection, Pool

BATCH = 1000
SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"


@dataclass(frozen=True, slots=True)
class Area:
    """One file of an export: the rows of a table, without the columns that are withheld.

    They are an account's by their column `owner`, or by `key`, the id of their parent: then an index begins with the
    key, and the id follows or the rows of a parent are few. `order` are columns that never change, unique together, of
    an index that begins with the account. An area with neither is small: it is read by the index of the account, and
    sorted.
    """

    table: str
    withheld: frozenset[str] = frozenset()
    owner: str = "account_id"
    order: tuple[str, ...] = ()
    parent: str = ""
    key: str = ""

    def select(self, columns: str = "*", *, first: bool) -> str:
        """Return what reads a batch of the account `$1` up to the id `$2`, the first or the one after some values."""
        ordered = ", ".join(self.order or ("id",))
        after = "" if first else f" AND ({ordered}) > ({', '.join(f'${n + 3}' for n in range(len(self.order) or 1))})"
        rows = f"SELECT {columns} FROM {self.table} WHERE {self.owner} = $1 AND id <= $2{after}"
        rows = rows if self.order else f"SELECT * FROM ({rows} OFFSET 0) AS own"
        return f"{rows} ORDER BY {ordered} LIMIT {BATCH}"

    def select_of_parents(self, columns: str = "*") -> str:
        """Return what reads a batch of the parents `$1` up to the id `$2`, after the row `$4` of the parent `$3`."""
        return (
            "SELECT own.* FROM unnest($1::bigint[]) AS parent(id) CROSS JOIN LATERAL ("
            f"SELECT {columns} FROM {self.table} WHERE {self.key} = parent.id AND id <= $2"
            f" AND id > CASE WHEN parent.id = $3 THEN $4::bigint ELSE 0 END ORDER BY id LIMIT {BATCH}) AS own"
            f" WHERE parent.id >= $3 ORDER BY parent.id, own.id LIMIT {BATCH}"
        )


BY_ID = ("id",)
AREAS = (
    Area("accounts", owner="id"),
    Area("users", frozenset({"password_hash"})),
    Area("invitations", frozenset({"hash"})),
    Area("sessions", frozenset({"hash"}), parent="users", key="user_id"),
    Area("audit_entries", order=BY_ID),
    Area("api_keys", frozenset({"hash"})),
    Area("oauth_clients", frozenset({"secret_hash", "secret_maker_id"})),
    Area("oauth_grants", order=BY_ID),
    Area("phone_numbers"),
    Area("contacts", frozenset({"searched"}), order=("created_at", "id")),
    Area("suppressions", order=("phone", "scope_type", "scope_id")),
    Area("consents", order=("phone", "id")),
    Area("holds", order=("phone",)),
    Area("conversations", parent="contacts", key="contact_id"),
    Area("messages", order=BY_ID),
    Area("sequences", order=BY_ID),
    Area("sequence_steps", parent="sequences", key="sequence_id"),
    Area("sequence_enrollments", parent="sequences", key="sequence_id"),
    Area("watched_keywords"),
    Area("ledger_entries", order=BY_ID),
    Area("events", order=("name", "id")),
    Area("webhook_subscriptions", frozenset({"secret", "old_secret", "old_secret_until"})),
    Area("webhook_deliveries", parent="webhook_subscriptions", key="subscription_id"),
    Area("webhook_attempts", parent="webhook_deliveries", key="delivery_id"),
    Area("webhook_notices", order=BY_ID),
)
"""The files of an export, in the order in which they are written."""

BY_TABLE = {area.table: area for area in AREAS}

Record = dict[str, object]


async def read_snapshot(connection: Connection, account_id: int) -> AsyncGenerator[tuple[str, list[Record]]]:
    """Yield what `read_records` does as of one instant; the connection has a transaction open that read nothing yet."""
    await connection.execute(SNAPSHOT)
    async for batch in read_records(connection, account_id):
        yield batch


async def read_records(source: Connection | Pool, account_id: int) -> AsyncGenerator[tuple[str, list[Record]]]:
    """Yield the records of each area in batches of at most `BATCH`; an empty area yields none.

    Each batch is read by a statement of its own. Records that are added while their area is read are left out.
    """
    for area in AREAS:
        async for rows in _read(source, area, account_id):
            yield area.table, [_record(area, row) for row in rows]


async def _read(
    source: Connection | Pool, area: Area, account_id: int, columns: str = "*"
) -> AsyncGenerator[list[Any]]:
    last = await source.fetchval(f"SELECT coalesce(max(id), 0) FROM {area.table}")
    if area.parent:
        async for ids in _read_ids(source, BY_TABLE[area.parent], account_id):
            async for rows in _read_of_parents(source, area, ids, last, columns):
                yield rows
        return
    after: tuple[Any, ...] = ()
    while rows := await source.fetch(area.select(columns, first=not after), account_id, last, *after):
        yield rows
        after = tuple(rows[-1][name] for name in area.order or BY_ID)


async def _read_ids(source: Connection | Pool, area: Area, account_id: int) -> AsyncGenerator[list[int]]:
    columns = ", ".join(dict.fromkeys((*BY_ID, *area.order, *([area.key] if area.key else []))))
    async for rows in _read(source, area, account_id, columns):
        yield [row["id"] for row in rows]


async def _read_of_parents(
    source: Connection | Pool, area: Area, ids: list[int], last: int, columns: str
) -> AsyncGenerator[list[Any]]:
    after = 0, 0
    while rows := await source.fetch(area.select_of_parents(columns), ids, last, *after):
        yield rows
        after = rows[-1][area.key], rows[-1]["id"]


def _record(area: Area, row: "dict[str, object]") -> Record:
    return {name: value for name, value in row.items() if name not in area.withheld}
