"""Rows that the service creates once in a test process, inserted again for each test that requests them."""

import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import DateTime, Table, update

from app.bootstrap import METADATA
from app.db.engine import Pool
from app.domain.accounts.models import Account
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.onboarding.service import Opened, Opening, open_account
from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.models import QuietHoursRule
from app.domain.quiet_hours.rules import EVERY_DAY
from app.services import Services
from tests.factories.tables import BY_TRIGGERS

T = TypeVar("T")

NEVER_EMPTY = {"carrier_connections": " AND key <> 'sandbox'", "payment_installations": " AND id > 1"}
"""Conditions that leave out the rows of every database."""

LASTING_SECONDS = 240.0
"""The time that saved rows are used; their access tokens expire after fifteen minutes."""


@dataclass(frozen=True)
class _Saved:
    """The created objects, the statement that inserts their rows, and the end of their use."""

    made: Any
    insert: str
    until: float


class SavedRows:
    """Creates rows with the service the first time, then inserts copies, which takes a tenth of the time."""

    def __init__(self) -> None:
        self._saved: dict[Hashable, _Saved] = {}
        self._number = 0

    async def account(self, services: Services, opening: Opening) -> Opened:
        """Open an account with the same ids, keys and password in every test."""

        async def make() -> Opened:
            async with open_unit(
                services.database.sessions, Actor(0, frozenset()), services.clock, services.notify
            ) as unit:
                opened = await open_account(unit, opening)
                await let_texts_leave_at_any_hour(unit, opened.account_id)
                return opened

        def is_its_row(table: Table, opened: Opened) -> str:
            owner = "id" if table.name == "accounts" else "account_id"
            return f"{owner} = {opened.account_id}" if owner in table.columns else "false"

        return await self._make_or_insert(services, opening, make, is_its_row)

    async def world(self, services: Services, name: str, make: Callable[[], Awaitable[T]]) -> T:
        """Create objects in an empty database, or insert the rows of the first time; the objects are shared."""
        return await self._make_or_insert(services, name, make, lambda *_: "true")

    async def _make_or_insert(
        self,
        services: Services,
        name: Hashable,
        make: Callable[[], Awaitable[T]],
        is_its_row: Callable[[Table, T], str],
    ) -> T:
        key, pool = (services.settings.database_url, services.secret, name), services.database.pool
        saved = self._saved.get(key)
        if saved is not None and time.monotonic() < saved.until:
            await pool.fetch(saved.insert)  # unlike `execute` it keeps the plan
            return saved.made
        made = await make()
        self._number += 1
        insert = await _save(pool, f"saved_{self._number}", lambda table: is_its_row(table, made))
        self._saved[key] = _Saved(made, insert, time.monotonic() + LASTING_SECONDS)
        return made


async def _save(pool: Pool, schema: str, condition: Callable[[Table], str]) -> str:
    """Copy rows into separate tables; return the statement that inserts them with their present ages."""
    await pool.execute(f"CREATE SCHEMA {schema}")
    inserts: list[str] = []
    for table in METADATA.sorted_tables:
        if table.name in BY_TRIGGERS:
            continue
        found = f"FROM {table.name} WHERE {condition(table)}{NEVER_EMPTY.get(table.name, '')}"
        if await pool.fetchval(f"SELECT EXISTS (SELECT {found})"):
            await pool.execute(f"CREATE TABLE {schema}.{table.name} AS SELECT *, now() AS saved_at {found}")
            inserts.append(f"{table.name}_rows AS ({_insert(table, schema)})")
    return f"WITH {', '.join(inserts)} SELECT"


def _insert(table: Table, schema: str) -> str:
    columns = [column for column in table.columns if column.computed is None]
    names = ", ".join(column.name for column in columns)
    values = ", ".join(
        f"{column.name} + (now() - saved_at)" if isinstance(column.type, DateTime) else column.name
        for column in columns
    )
    return f"INSERT INTO {table.name} ({names}) OVERRIDING SYSTEM VALUE SELECT {values} FROM {schema}.{table.name}"


async def let_texts_leave_at_any_hour(unit: UnitOfWork, account_id: int) -> None:
    """Override the quiet hours and raise the weekly cap: no test depends on its time."""
    rules = [
        QuietHoursRule(
            account_id=account_id,
            jurisdiction=jurisdiction,
            weekdays=list(EVERY_DAY),
            start_minute=0,
            end_minute=1440,
            overrides_law=True,
            created_by="test",
        )
        for jurisdiction in sorted({law.jurisdiction for law in LAWS})
    ]
    await unit.save(*rules)
    await unit.execute(update(Account).where(Account.id == account_id).values(weekly_cap=1000))
