"""Holds, releases and cancels accepted texts that have not left."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import DateTime, Select, case, func, literal_column, select, update

from app.db.engine import Connection
from app.db.rows import fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import outgoing
from app.domain.messages.failures import OwnCode
from app.domain.messages.models import Message, Outgoing
from app.domain.messages.receipts import application
from app.domain.messages.receipts.application import Application
from app.domain.messages.reports import HeldMessage, ReportedMessage
from app.domain.quiet_hours import sql as quiet_hours
from app.domain.quiet_hours.limits import LONGEST

HELD = literal_column("'infinity'::timestamptz", DateTime(timezone=True))
"""The due time of a held text."""

IS_WAITING = "EXISTS (SELECT FROM outgoing WHERE message_id = {id} AND claimed_until IS NULL)"
"""The condition that the text of the message `id` waits for a worker."""

REMOVE_WAITING = """
DELETE FROM outgoing WHERE message_id = ANY($1::bigint[]) AND claimed_until IS NULL RETURNING message_id
"""


async def hold(unit: UnitOfWork, ids: Select[int]) -> int:
    """Let no worker claim the texts of some messages; return how many wait. The others are in flight.

    A text in flight that comes back without having left is then held too. Those of a released number stay due: workers
    fail and refund them.
    """
    found = select(Outgoing.message_id).where(Outgoing.message_id.in_(ids))
    locked = found.order_by(Outgoing.message_id).with_for_update().cte("locked")
    due_at = case((Outgoing.carrier == outgoing.RELEASED, Outgoing.due_at), else_=HELD)
    changed = update(Outgoing).where(Outgoing.message_id == locked.c.message_id).values(due_at=due_at)
    held = changed.returning(Outgoing.claimed_until).cte("held")
    waiting = select(func.count()).select_from(held).where(held.c.claimed_until.is_(None))
    return (await unit.execute(waiting)).scalar_one()


async def release(unit: UnitOfWork, ids: Select[int]) -> None:
    """Let workers claim the held texts of some messages: those that were deferred, when they may leave.

    A text has `LONGEST` again to leave, and its time for further attempts begins again.
    """
    until = select(Message.deferred_until).where(Message.id == Outgoing.message_id).scalar_subquery()
    held = update(Outgoing).where(Outgoing.message_id.in_(ids), Outgoing.due_at == HELD)
    now = unit.clock.now()
    renewed = {
        "due_at": func.greatest(until, now),
        "expires_at": case((Outgoing.expires_at < now + LONGEST, now + LONGEST), else_=Outgoing.expires_at),
        "tried_since": None,
    }
    await unit.execute(held.values(renewed).execution_options(synchronize_session=False))
    unit.notify("messages")


async def cancel(
    connection: Connection, account_id: int, balance: int, ids: Sequence[int], actor: str, now: datetime
) -> list[int]:
    """Fail and refund the waiting texts of some messages of an account whose balance is locked; return their ids.

    They count toward no frequency cap any more.
    """
    removed = [row["message_id"] for row in await connection.fetch(REMOVE_WAITING, ids)]
    if not removed:
        return []
    await connection.execute(quiet_hours.COUNT_NO_MORE, removed)
    columns = removed, application.LOCK_TIMEOUT, *application.columns_of(())
    rows = await fetch(connection, HeldMessage, application.WAIT, *columns)
    changes = Application((), now, waits=True, balances={account_id: balance}, actor=actor)
    changes.messages = {row.id: ReportedMessage(row) for row in rows if row.status == "pending"}
    for message in changes.messages.values():
        message.fail(OwnCode.canceled)
        message.has_changed = True
    await changes.write(connection)
    return list(changes.messages)
