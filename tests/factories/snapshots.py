"""Every row of the database, or of one account: what must be as it was when others have reached for it."""

from sqlalchemy import Table

from app.bootstrap import METADATA
from app.db.engine import Pool


async def rows(pool: Pool, account_id: int | None = None) -> dict[str, list[str]]:
    """Return every row of each table; of one account's, and of what belongs to no account, if one is named."""
    return {table.name: await _rows(pool, table, account_id) for table in METADATA.sorted_tables}


async def _rows(pool: Pool, table: Table, account_id: int | None) -> list[str]:
    condition = _owned_by(table, account_id) if account_id else "true"
    return sorted(row["t"] for row in await pool.fetch(f"SELECT t::text FROM {table.name} t WHERE {condition}"))


def _owned_by(table: Table, account_id: int) -> str:
    """Return the condition on a table's rows that are an account's, by their own column or their parent's."""
    if table.name == "accounts":
        return f"id = {account_id}"
    if "account_id" in table.columns:
        return f"account_id = {account_id}"
    for key in table.foreign_keys:
        parent = key.column.table
        if "account_id" in parent.columns:
            owned = f"SELECT {key.column.name} FROM {parent.name} WHERE account_id = {account_id}"
            return f"{key.parent.name} IN ({owned})"
    return "true"
