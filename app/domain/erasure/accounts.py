"""Deletes due accounts: closes them, deletes their rows in batches, and checks for remaining rows.

Each batch is a transaction that locks the account's row, so that any worker can continue after a crash. A second pass,
an hour after the closing, deletes rows that were written concurrently with the closing.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, select

from app.db.engine import CONTENDED, UNREACHABLE, Connection, Database, find_fault
from app.domain.accounts import sql
from app.domain.accounts.models import Account, AccountStatus
from app.domain.billing import service as billing
from app.domain.erasure.tables import DELETED
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit

BATCH = 1000
"""Number of rows of a table that one transaction deletes, with their dependent rows, such as receipts."""

AGAIN_AFTER = timedelta(hours=1)
"""The time from the closing to the second pass: longer than any request or job that began before the closing."""

AFTER_DEFECT = timedelta(minutes=5)
"""The wait after an unexpected error, during which other accounts are deleted."""

PATIENCE = "5s"
"""The lock timeout of a batch."""

AFTER_LOCK = timedelta(seconds=30)
"""The wait of a worker after a lock timeout, during which it deletes other accounts."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place where the deletion of an account continues: the number of a table in `DELETED`, after a row of it."""

    number: int = 0
    after: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class AccountDeletions:
    """Deletes accounts; safe to run concurrently. `prepare` ends the payments of an account before it is closed.

    The places in memory only save time: a worker without them starts again at the first table and finds it empty. The
    due time identifies the pass that a place belongs to.
    """

    database: Database
    clock: Clock
    notify: Notify
    batch: int = BATCH
    prepare: Callable[[int], Awaitable[None]] | None = None
    _places: dict[int, tuple[datetime, Place]] = field(default_factory=dict)
    _rests: dict[int, datetime] = field(default_factory=dict)

    async def run(self) -> bool:
        """Close the account that has been due longest, or delete one batch of it; return True when more may be due."""
        now = self.clock.now()
        due = await self.database.pool.fetchrow(sql.FIND_DELETION, now, self._resting(now))
        if due is None:
            return False
        try:
            if due["status"] != AccountStatus.deleted:
                if self.prepare:
                    await self.prepare(due["id"])
                return await self._close(due["id"])
            return await self._empty(due["id"], now)
        except Exception as error:
            fault = find_fault(error)
            if isinstance(fault, CONTENDED):
                return self._rest(due["id"], now)
            self._places.pop(due["id"], None)
            if not isinstance(fault, UNREACHABLE):
                await self.database.pool.execute(sql.POSTPONE_DELETION, due["id"], now, now + AFTER_DEFECT)
            raise

    def _rest(self, account_id: int, now: datetime) -> bool:
        """Skip an account for `AFTER_LOCK`; return True, as others may be due."""
        self._rests[account_id] = now + AFTER_LOCK
        return True

    def _resting(self, now: datetime) -> list[int]:
        for account_id in [id for id, until in self._rests.items() if until <= now]:
            del self._rests[account_id]
        return list(self._rests)

    async def due(self) -> bool:
        """Return whether the deletion of an account is due."""
        return await self.database.pool.ask(sql.IS_DELETION_DUE, self.clock.now())

    async def _close(self, account_id: int) -> bool:
        """Close the account: after this commit its credentials are refused and the deletion is final."""
        async with self._unit(account_id) as unit:
            account = await _hold(unit, Account.status != AccountStatus.deleted)
            if account is None:
                return False
            account.status, account.deleted_at, account.deletion_notice_at = "deleted", unit.clock.now(), None
            account.company_name = account.support_contact = ""
            await unit.save(account)
            await billing.forfeit(unit)
        return True

    async def _empty(self, account_id: int, now: datetime) -> bool:
        """Delete a batch; return False when another worker has the account. Pause it when rows are locked."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            due_at = await connection.fetchval(sql.HOLD_DELETION, account_id, now, PATIENCE)
            if due_at is None:
                return False
            look, place = self._places.get(account_id, (due_at, Place()))
            place = place if look == due_at else Place()
            reached = await self._delete_batch(connection, account_id, place, now)
        self._places[account_id] = (due_at, reached or Place(place.number))
        self.notify("erasures")
        if reached and reached.number == len(DELETED):
            return await self._finish(account_id)
        return reached is not None or self._rest(account_id, now)

    async def _delete_batch(self, connection: Connection, account_id: int, place: Place, now: datetime) -> Place | None:
        """Delete the next batch; return where to go on; None where other transactions have locked the rest.

        A table is done when nothing is left in it: rows that others have locked are waited for.
        """
        while place.number < len(DELETED):
            table = DELETED[place.number]
            rows = await connection.fetch(table.select(self.batch, first=not place.after), account_id, *place.after)
            if rows:
                for statement in table.changes():
                    here = [row["row"] for row in rows]
                    await connection.execute(statement, *([here, now] if "$2" in statement else [here]))
                return Place(place.number, tuple(rows[-1])[1:])
            if await connection.fetchval(table.exists(), account_id):
                return Place(place.number) if place.after else None
            place = Place(place.number + 1)
        return place

    async def _finish(self, account_id: int) -> bool:
        """Schedule the second pass of an empty account, or finish after it; forfeit credits refunded since."""
        async with self._unit(account_id) as unit:
            account = await _hold(unit, Account.status == AccountStatus.deleted)
            if account is None or account.deleted_at is None or account.deletion_at is None:
                return False
            again_at = account.deleted_at + AGAIN_AFTER
            account.deletion_at = again_at if account.deletion_at < again_at else None
            await unit.save(account)
            await billing.forfeit(unit)
        self._places.pop(account_id, None)
        return True

    def _unit(self, account_id: int) -> AbstractAsyncContextManager[UnitOfWork]:
        return open_unit(self.database.sessions, Actor(account_id, frozenset()), self.clock, self.notify)


async def _hold(unit: UnitOfWork, which: ColumnElement[bool]) -> Account | None:
    """Lock the actor's account if its deletion is due; None when it is not, or another worker has the lock."""
    own = Account.id == unit.actor.account_id
    due = (own, Account.deletion_at <= unit.clock.now(), Account.deletion_notice_at.is_(None), which)
    return await unit.one(select(Account).where(*due).with_for_update(key_share=True, skip_locked=True))
