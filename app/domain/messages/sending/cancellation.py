"""Holds, releases and cancels accepted texts that no worker has claimed yet."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, DateTime, Select, case, func, literal_column, select, update

from app.db.engine import Connection
from app.db.rows import fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outgoing
from app.domain.messages.failures import OwnCode
from app.domain.messages.models import Message, Outgoing
from app.domain.messages.receipts import application
from app.domain.messages.receipts.application import Application
from app.domain.messages.reports import HeldMessage, ReportedMessage

HELD = literal_column("'infinity'::timestamptz", DateTime(timezone=True))
"""The due time of a held text."""

IS_WAITING = "EXISTS (SELECT FROM outgoing WHERE message_id = {id} AND claimed_until IS NULL)"
"""The condition that the text of the message `id` waits for a worker."""

REMOVE_WAITING = """
DELETE FROM outgoing WHERE message_id = ANY($1::bigint[]) AND claimed_until IS NULL RETURNING message_id
"""


async def hold(unit: UnitOfWork, ids: Select[int]) -> int:
    """Let no worker claim the waiting texts of some messages; return how many wait. The others are in flight.

    Those of a released number stay due: workers fail and refund them.
    """
    waiting = update(Outgoing).where(Outgoing.message_id.in_(ids), Outgoing.claimed_until.is_(None))
    due_at = case((Outgoing.carrier == outgoing.RELEASED, Outgoing.due_at), else_=HELD)
    held = await unit.execute(waiting.values(due_at=due_at).execution_options(synchronize_session=False))
    return cast("CursorResult[Any]", held).rowcount


async def release(unit: UnitOfWork, ids: Select[int]) -> None:
    """Let workers claim the held texts of some messages: those that were deferred, when they may leave."""
    until = select(Message.deferred_until).where(Message.id == Outgoing.message_id).scalar_subquery()
    held = update(Outgoing).where(Outgoing.message_id.in_(ids), Outgoing.due_at == HELD)
    due_at = func.greatest(until, unit.clock.now())
    await unit.execute(held.values(due_at=due_at).execution_options(synchronize_session=False))
    unit.notify("messages")


async def cancel(
    connection: Connection, account_id: int, balance: int, ids: Sequence[int], actor: str, now: datetime
) -> list[int]:
    """Fail and refund the waiting texts of some messages of an account whose balance is locked; return their ids."""
    removed = [row["message_id"] for row in await connection.fetch(REMOVE_WAITING, ids)]
    if not removed:
        return []
    columns = removed, application.LOCK_TIMEOUT, *application.columns_of(())
    rows = await fetch(connection, HeldMessage, application.WAIT, *columns)
    changes = Application((), now, waits=True, balances={account_id: balance}, actor=actor)
    changes.messages = {row.id: ReportedMessage(row) for row in rows if row.status == "pending"}
    for message in changes.messages.values():
        message.fail(OwnCode.canceled)
        message.has_changed = True
    await changes.write(connection)
    return list(changes.messages)
