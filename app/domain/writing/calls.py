"""Paid calls of writers: a credit is debited before the call, and refunded once if nothing usable came.

The debit and the row of the call are one transaction, the end of the call and its refund another. A call whose process
died in between is refunded after it expired.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

from sqlalchemy import func, select, update

from app.domain.billing import prices
from app.domain.billing import service as billing
from app.domain.kernel.unit_of_work import UnitOfWork, open_unit
from app.domain.writing.drafting import Draft, Writers
from app.domain.writing.errors import TooManyCalls
from app.domain.writing.models import CallKind, CallStatus, WriterCall

GRACE = timedelta(seconds=60)
"""The time after the last moment at which a call can end, until it is refunded as one whose process died."""

FIND_LAPSED = "SELECT DISTINCT account_id FROM writer_calls WHERE status = 'running' AND expires_at <= $1"

DESCRIPTIONS = {
    CallKind.copy: "Message copy",
    CallKind.campaign: "Campaign copy",
    CallKind.suggestion: "Suggested reply",
    CallKind.agent: "AI agent's draft",
    CallKind.test: "Test of an AI agent",
}


DEBITED = WriterCall.kind, WriterCall.credits


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a call: the balance, and the credits of the call, none if they were refunded."""

    credits_remaining: int
    credits: int


class Debited(NamedTuple):
    """The kind of a call, and the credits that were debited for it, at the price of that time."""

    kind: str
    credits: int


@asynccontextmanager
async def apart(unit: UnitOfWork) -> AsyncGenerator[UnitOfWork]:
    """Open a transaction of its own for the same actor, after `unit` has released its connection."""
    await unit.pause()
    async with open_unit(unit.sessions, unit.actor, unit.clock, lambda _: None) as own:
        yield own


async def begin(unit: UnitOfWork, writers: Writers, kind: CallKind) -> int:
    """Debit a call and return its id, after the commit; raise `InsufficientCredits` or `TooManyCalls`."""
    async with apart(unit) as own:
        await billing.lock(own)
        running = select(func.count()).where(
            WriterCall.account_id == own.actor.account_id,
            WriterCall.status == CallStatus.running,
            WriterCall.expires_at > own.clock.now(),
        )
        if (await own.one(running) or 0) >= writers.at_once:
            raise TooManyCalls(limit=writers.at_once)
        await billing.debit(own, prices.GENERATE, DESCRIPTIONS[kind])
        call = _started(own, writers, kind)
        await own.save(call)
        return call.id


async def end(unit: UnitOfWork, call_id: int, draft: Draft, *, is_paid: bool) -> Ended:
    """End a call in the unit's transaction, which holds the balance; refund it unless `is_paid`. Once for each call."""
    status = CallStatus.done if is_paid else CallStatus.refunded
    values = {
        "status": status,
        "provider": draft.provider,
        "model": draft.model,
        "input_tokens": draft.input_tokens,
        "output_tokens": draft.output_tokens,
        "failure": draft.failure,
        "ended_at": unit.clock.now(),
    }
    own = WriterCall.account_id == unit.actor.account_id, WriterCall.status == CallStatus.running
    statement = update(WriterCall).where(WriterCall.id == call_id, *own).values(values).returning(*DEBITED)
    row = (await unit.execute(statement)).one_or_none()
    if row is None or is_paid:
        return Ended(await billing.read_balance(unit), row.credits if row else 0)
    return Ended(await _refund(unit, Debited._make(row)), 0)


async def refund_lapsed(unit: UnitOfWork) -> int:
    """Refund the calls of the actor's account whose processes died; return their number."""
    await billing.lock(unit)
    lapsed = WriterCall.status == CallStatus.running, WriterCall.expires_at <= unit.clock.now()
    statement = (
        update(WriterCall)
        .where(WriterCall.account_id == unit.actor.account_id, *lapsed)
        .values(status=CallStatus.refunded, failure="interrupted", ended_at=unit.clock.now())
        .returning(*DEBITED)
    )
    debited = [Debited._make(row) for row in (await unit.execute(statement)).all()]
    for each in debited:
        await _refund(unit, each)
    return len(debited)


async def _refund(unit: UnitOfWork, call: Debited) -> int:
    return await billing.give_back(unit, call.credits, f"{DESCRIPTIONS[CallKind(call.kind)]}: nothing usable came")


def _started(unit: UnitOfWork, writers: Writers, kind: CallKind) -> WriterCall:
    now = unit.clock.now()
    return WriterCall(
        account_id=unit.actor.account_id,
        kind=kind,
        provider=writers.first.provider,
        model=writers.first.model,
        credits=prices.GENERATE,
        actor=unit.actor.label,
        created_at=now,
        expires_at=now + timedelta(seconds=writers.seconds) + GRACE,
    )
