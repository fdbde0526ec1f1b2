"""Snapshots of all rows, or of one account's, to compare before and after an attack."""

from sqlalchemy import Table

from app.bootstrap import METADATA
from app.db.engine import Pool


async def rows(pool: Pool, account_id: int | None = None) -> dict[str, list[str]]:
    """Return every row of each table; with an account, only its rows and those of no account."""
    found: dict[str, list[str]] = {table.name: [] for table in METADATA.sorted_tables}
    for row in await (pool.fetch(OWNED, account_id) if account_id else pool.fetch(ALL)):
        found[row["name"]].append(row["row"])
    return {name: sorted(each) for name, each in found.items()}


def _select(table: Table, condition: str) -> str:
    return f"SELECT '{table.name}' AS name, t::text AS row FROM {table.name} t WHERE {condition}"


def _owned_by(table: Table) -> str:
    """Return the condition for the rows of an account, by their own column or their parent's."""
    if table.name == "accounts":
        return "id = $1"
    if "account_id" in table.columns:
        return "account_id = $1"
    for key in table.foreign_keys:
        parent = key.column.table
        if "account_id" in parent.columns:
            owned = f"SELECT {key.column.name} FROM {parent.name} WHERE account_id = $1"
            return f"{key.parent.name} IN ({owned})"
    return "true"


ALL = " UNION ALL ".join(_select(table, "true") for table in METADATA.sorted_tables)
OWNED = " UNION ALL ".join(_select(table, _owned_by(table)) for table in METADATA.sorted_tables)
