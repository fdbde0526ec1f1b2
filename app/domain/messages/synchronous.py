"""Synchronous sending: accept a message, hand it over at once and return the carrier's result."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db.engine import UNREACHABLE
from app.db.rows import find
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import failures
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.errors import CarrierRefused, CarrierTimeout
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import MessageStatus
from app.domain.messages.requests import Acceptance, Send

LOOK_EVERY = 0.05

FIND_RESULT = """
SELECT status, error_code, from_number, to_number, segments, sent_at FROM messages WHERE account_id = $1 AND id = $2
"""


class Outcome(NamedTuple):
    """The state of a message after its hand-off."""

    status: str
    error_code: str | None
    from_number: str
    to_number: str
    segments: int
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A message that the carrier accepted."""

    message_id: int
    from_number: str
    to_number: str
    segments: int
    replayed: bool


async def send(acceptor: SendAcceptor, handoff: Handoff, actor: Actor, wish: Send) -> Taken:
    """Send a message and return when the carrier has accepted it, within the timeout of a hand-off.

    A message whose sending number is paced first waits for its turn, for `gates.LONGEST_WAIT` at most; one that
    would wait longer is refused with `NumberBusy`.

    The message is accepted with a claim, so that no worker hands it over as well. It is handed over also when the
    caller is cancelled. If this process crashes, the claim expires and the carrier is queried. A repeated idempotency
    key returns the result of the first send, even if the message failed later. Raises `CarrierRefused` when it failed
    and was refunded, and `CarrierTimeout` when the outcome is unknown: then it must not be sent again.
    """
    begun = asyncio.get_running_loop().time()
    accepted = await handoff.keep(_accept(acceptor, handoff, actor, wish))
    id = accepted.message_id
    try:
        row = await _await_result(handoff, actor, id, begun + handoff.pace.timeout + accepted.wait)
    except UNREACHABLE:  # the carrier may have accepted it
        raise CarrierTimeout(id=id) from None
    if row.status == MessageStatus.failed and not row.sent_at:
        code = row.error_code or ""
        raise CarrierRefused(id=id, code=code, reason=failures.describe(code))
    return Taken(id, row.from_number, row.to_number, row.segments, accepted.replayed)


async def _accept(acceptor: SendAcceptor, handoff: Handoff, actor: Actor, wish: Send) -> Acceptance:
    """Accept a message, and hand it over unless another process does; it never has a claim that is not used."""
    accepted = await acceptor.accept(actor, replace(wish, claim=timedelta(seconds=handoff.pace.lease)))
    if accepted.claimed_until:
        await asyncio.sleep(accepted.wait)
        try:
            await handoff.hand_over(accepted.message_id, accepted.claimed_until)
        except UNREACHABLE:  # the carrier may have accepted it
            raise CarrierTimeout(id=accepted.message_id) from None
    return accepted


async def _await_result(handoff: Handoff, actor: Actor, id: int, deadline: float) -> Outcome:
    """Return a message once it is not pending; another process may be handing it over."""
    while True:
        row = await find(handoff.database.pool, Outcome, FIND_RESULT, actor.account_id, id)
        if row is None:
            raise NotFound(kind="message", id=id)
        if row.status != MessageStatus.pending:
            return row
        if asyncio.get_running_loop().time() >= deadline:
            raise CarrierTimeout(id=id)
        await asyncio.sleep(LOOK_EVERY)
