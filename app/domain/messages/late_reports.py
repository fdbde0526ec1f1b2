"""Asks carriers for the final reports that no callback has brought, as after an outage of this service.

A walk through the messages, in the order of their ids, finds the texts without a final report an hour after they were
accepted, and adds them to `status_queries`; sends and reports write nothing for it. A carrier is asked for a text at
the ages of `AGES`. Its answer goes the way of a callback, so that it is harmless beside one, and when it is repeated.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db import claims
from app.db.engine import UNREACHABLE
from app.domain.carriers.carrier import Capabilities, CarriedMessage, Carrier, Receipt, ReceiptStatus
from app.domain.messages import walks
from app.domain.messages.carrier_rounds import LEASE, CarrierRounds
from app.domain.messages.models import MessageStatus
from app.domain.messages.queries import FINAL_REPORT_WITHIN
from app.domain.messages.receipts.journal import Receipts

AGES = walks.AGE, timedelta(hours=6), timedelta(hours=24), timedelta(hours=71)
"""The times after a text was sent at which its carrier is asked; the last one is before it counts as unconfirmed."""

CLAIMED = 200
"""The number of texts of a connection that are claimed at once."""

LAST_WORDS = frozenset({ReceiptStatus.delivered, ReceiptStatus.failed, ReceiptStatus.unconfirmed})
"""The statuses after which a carrier reports nothing more."""

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
class LateReports(CarrierRounds[LateText]):
    """Finds the texts without a final report, and asks for them; safe to run concurrently."""

    TABLE = "status_queries"
    WALK = WALK

    receipts: Receipts
    claimed: int = CLAIMED

    @staticmethod
    def is_able(capabilities: Capabilities) -> bool:
        """Return whether a carrier answers questions about texts."""
        return capabilities.answers_status_queries

    async def claim(self, key: str) -> Sequence[LateText]:
        """Claim texts that are due."""
        now = self.clock.now()
        lease = now, self.claimed, now + LEASE
        return await claims.claim(
            self.database.pool, LateText, CLAIM, key, *lease, give_back=self._give_back, seconds=LEASE.seconds
        )

    async def ask(self, key: str, claimed: Sequence[LateText], ends_at: float) -> None:
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
