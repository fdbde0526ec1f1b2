"""Asks carriers for the final reports that no callback has brought, as after an outage of this service.

A walk through the messages, in the order of their ids, finds the texts without a final report an hour after they were
accepted, and adds them to `status_queries`; sends and reports write nothing for it. A carrier is asked for a text at
the ages of `AGES`. Its answer goes the way of a callback, so that it is harmless beside one, and when it is repeated.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db import claims
from app.db.engine import UNREACHABLE, Database
from app.domain.carriers.carrier import Capabilities, CarriedMessage, Carrier, Receipt, ReceiptStatus
from app.domain.kernel.clock import Clock
from app.domain.messages import walks
from app.domain.messages.carrier_calls import CarrierCalls
from app.domain.messages.models import MessageStatus
from app.domain.messages.queries import FINAL_REPORT_WITHIN
from app.domain.messages.receipts.journal import Receipts

AGES = walks.AGE, timedelta(hours=6), timedelta(hours=24), timedelta(hours=71)
"""The times after a text was sent at which its carrier is asked; the last one is before it counts as unconfirmed."""

CLAIMED = 200
"""The number of texts of a connection that are claimed at once."""

CONNECTIONS = 50
"""The number of connections that a run asks at the same time; chance chooses them, so that slow ones delay no other."""

LEASE = timedelta(minutes=5)
"""The time of a claim: a run takes less than a minute."""

LAST_WORDS = frozenset({ReceiptStatus.delivered, ReceiptStatus.failed, ReceiptStatus.unconfirmed})
"""The statuses after which a carrier reports nothing more."""

MARK = "status_queries"

WALK = walks.noting(
    """
  INSERT INTO status_queries (message_id, carrier, due_at)
  SELECT id, carrier, interval '1 hour' + CASE WHEN status = 'sent' THEN coalesce(sent_at, created_at)
    ELSE greatest($3, (SELECT due_at FROM outgoing WHERE message_id = old.id)) END
  FROM old WHERE direction = 'outbound' AND status IN ('pending', 'sent') AND carrier = ANY($4::text[])
  ON CONFLICT DO NOTHING
""",
    "direction, status, carrier, sent_at",
)

IS_DUE = f"""
SELECT {walks.IS_BEHIND} OR EXISTS (SELECT FROM status_queries WHERE carrier = ANY($3::text[]) AND due_at <= $4)
"""

FIND_DUE = f"""
SELECT key FROM unnest($1::text[]) AS k(key)
WHERE EXISTS (SELECT FROM status_queries WHERE carrier = key AND due_at <= $2) ORDER BY random() LIMIT {CONNECTIONS}
"""

CLAIM = """
WITH due AS MATERIALIZED (
  SELECT message_id FROM status_queries WHERE carrier = $1 AND due_at <= $2
  ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE status_queries q SET due_at = $4 FROM due WHERE q.message_id = due.message_id
  RETURNING q.message_id, q.carrier, q.due_at
)
SELECT claimed.*, m.status, m.provider_message_id, coalesce(m.sent_at, m.created_at) AS sent_at
FROM claimed LEFT JOIN LATERAL (SELECT * FROM messages WHERE id = claimed.message_id LIMIT 1) m ON true
"""

FORGET = "DELETE FROM status_queries WHERE message_id = ANY($1::bigint[]) AND due_at = $2"

PUT_OFF = """
UPDATE status_queries q SET due_at = r.due_at FROM unnest($1::bigint[], $2::timestamptz[]) AS r(message_id, due_at)
WHERE q.message_id = r.message_id AND q.due_at = $3
"""

PUT_OFF_PENDING = """
UPDATE status_queries q SET carrier = m.carrier,
  due_at = interval '1 hour' + greatest($2, (SELECT due_at FROM outgoing WHERE message_id = m.id))
FROM messages m WHERE m.id = ANY($1::bigint[]) AND q.message_id = m.id AND q.due_at = $3
"""
"""Puts off texts that have not left until an hour after they are due; a connection may have got their number."""


class LateText(NamedTuple):
    """A text to ask a carrier for, with its present state; `status` is None for a message that was deleted."""

    message_id: int
    carrier: str
    due_at: datetime
    status: str | None
    provider_message_id: str | None
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class LateReports:
    """Finds the texts without a final report, and asks for them; safe to run concurrently."""

    database: Database
    receipts: Receipts
    calls: CarrierCalls
    clock: Clock
    claimed: int = CLAIMED
    _running: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def run(self) -> bool:
        """Walk on, and ask each carrier for texts, for a while; return True when more may be due.

        One run at a time asks.
        """
        if self._running.locked():
            return False
        async with self._running:
            keys, now = await self.calls.find_keys(_is_able), self.clock.now()
            is_walking = await walks.walk(self.database.pool, MARK, WALK, now, keys)
            free, ends_at = await self.calls.find_free(_is_able), self.calls.find_end()
            due = [row["key"] for row in await self.database.pool.fetch(FIND_DUE, free, self.clock.now())]
            async with asyncio.TaskGroup() as asking:
                for key in due:
                    asking.create_task(self._ask_through(key, ends_at))
            return is_walking or bool(due)

    async def due(self) -> bool:
        """Return whether messages are old enough for the walk, or a carrier must be asked for a text."""
        now, keys = self.clock.now(), await self.calls.find_free(_is_able)
        return await self.database.pool.ask(IS_DUE, MARK, now - AGES[0], keys, now)

    async def _ask_through(self, key: str, ends_at: float) -> None:
        """Ask one carrier for texts until none is due, it must rest, or the time of the run is over."""
        while claimed := await self._claim(key):
            await self._ask(key, claimed, ends_at)
            if self.calls.is_resting(key) or asyncio.get_running_loop().time() >= ends_at:
                return

    async def _claim(self, key: str) -> Sequence[LateText]:
        now = self.clock.now()
        lease = now, self.claimed, now + LEASE
        return await claims.claim(
            self.database.pool, LateText, CLAIM, key, *lease, give_back=self._give_back, seconds=LEASE.seconds
        )

    async def _ask(self, key: str, claimed: Sequence[LateText], ends_at: float) -> None:
        """Ask for claimed texts of one connection; those without an answer are due again later."""
        until, begun_at = claimed[0].due_at, self.clock.now()
        if pending := [each.message_id for each in claimed if each.status == MessageStatus.pending]:
            await self.database.pool.execute(PUT_OFF_PENDING, pending, begun_at, until)
        askable = [each for each in claimed if _is_askable(each, begun_at)]
        left = await self.calls.run(key, askable, _query_status, self._receive, ends_at)
        now, others = self.clock.now(), [each for each in claimed if each.status != MessageStatus.pending]
        await self._settle({each: left.get(each) or _next_time(each, now) for each in others}, until)

    async def _receive(self, text: LateText, receipt: Receipt | None) -> None:
        """Apply the last word of a carrier; another one changes nothing. A receipt that fails delays no other one."""
        if receipt is None or receipt.status not in LAST_WORDS:
            return
        try:
            named = replace(receipt, provider_message_id=text.provider_message_id or "")
            await self.receipts.receive(text.carrier, named)
        except UNREACHABLE:
            raise
        except Exception as error:
            context = {"message": f"the report on message {text.message_id} was not applied", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    async def _settle(self, times: Mapping[LateText, datetime | None], until: datetime) -> None:
        """Store when texts are asked for again; those that are not asked for again are deleted."""
        ended = [each.message_id for each, time in times.items() if time is None]
        again = [(each.message_id, time) for each, time in times.items() if time is not None]
        if ended:
            await self.database.pool.execute(FORGET, ended, until)
        if again:
            await self.database.pool.execute(PUT_OFF, *zip(*again, strict=True), until)

    async def _give_back(self, claimed: Sequence[LateText]) -> None:
        """Let texts that no carrier was asked for be asked for at once."""
        now = self.clock.now()
        await self._settle(dict.fromkeys(claimed, now), claimed[0].due_at)


def _is_able(capabilities: Capabilities) -> bool:
    return capabilities.answers_status_queries


def _is_askable(text: LateText, now: datetime) -> bool:
    """Return whether a carrier can be asked for a text now: it was sent, under an id, in the time of reports."""
    if text.status != MessageStatus.sent or text.provider_message_id is None or text.sent_at is None:
        return False
    return AGES[0] <= now - text.sent_at < FINAL_REPORT_WITHIN


def _next_time(text: LateText, now: datetime) -> datetime | None:
    """Return when a text is asked for next; None where it is not, because it is settled, too old, or has no id."""
    if text.status != MessageStatus.sent or text.provider_message_id is None or text.sent_at is None:
        return None
    return next((text.sent_at + age for age in AGES if text.sent_at + age > now), None)


async def _query_status(carrier: Carrier, text: LateText) -> Receipt | None:
    return await carrier.query_status(CarriedMessage(text.message_id, text.provider_message_id))
