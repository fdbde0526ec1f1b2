"""Sending one text and waiting for the carrier: accept it, hand it over at once, tell what came of it."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db.engine import UNREACHABLE
from app.db.rows import find
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages import failures
from app.domain.messages.acceptor import Send, SendAcceptor
from app.domain.messages.errors import CarrierRefused, CarrierTimeout
from app.domain.messages.handoff import Handoff
from app.domain.messages.models import MessageStatus

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
    """A text that the carrier has taken."""

    message_id: int
    from_number: str
    to_number: str
    segments: int
    replayed: bool


async def send(acceptor: SendAcceptor, handoff: Handoff, actor: Actor, wish: Send) -> Taken:
    """Send a text and return once the carrier has taken it, in the time that a hand-off may take.

    The message is claimed as it is accepted, so that no worker hands it over as well; if this process dies, the claim
    lapses and the carrier is asked. A send that was answered before waits for its first result, whatever became of the
    text afterwards. Raises `CarrierRefused` when it failed and was refunded, and `CarrierTimeout` when nobody knows:
    then it must not be sent again.
    """
    deadline = asyncio.get_running_loop().time() + handoff.pace.timeout
    accepted = await acceptor.accept(actor, replace(wish, claim=timedelta(seconds=handoff.pace.lease)))
    id = accepted.message_id
    try:
        if accepted.claimed_until:
            await handoff.hand_over(id, accepted.claimed_until)
        row = await _await_result(handoff, actor, id, deadline)
    except UNREACHABLE:  # the carrier may have it
        raise CarrierTimeout(id=id) from None
    if row.status == MessageStatus.failed and not row.sent_at:
        code = row.error_code or ""
        raise CarrierRefused(id=id, code=code, reason=failures.describe(code))
    return Taken(id, row.from_number, row.to_number, row.segments, accepted.replayed)


async def _await_result(handoff: Handoff, actor: Actor, id: int, deadline: float) -> Outcome:
    """Return a message that is not pending any more; another process may be at work on it."""
    while True:
        row = await find(handoff.database.pool, Outcome, FIND_RESULT, actor.account_id, id)
        if row is None:
            raise NotFound(kind="message", id=id)
        if row.status != MessageStatus.pending:
            return row
        if asyncio.get_running_loop().time() >= deadline:
            raise CarrierTimeout(id=id)
        await asyncio.sleep(LOOK_EVERY)
