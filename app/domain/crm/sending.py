"""Sends the texts that CRMs ask for: claim, send through the acceptor, record.

The claim is committed before the send. A worker that dies in between leaves a claim that expires; the repeated send has
the same idempotency key, and gets the stored answer. The key has the CRM's own ids: a text for which a CRM asks again,
after its connection was removed and made again, is not sent again either.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from app.db import claims
from app.db.engine import Connection, Database
from app.domain.crm.service import TOPIC
from app.domain.integrations import endings
from app.domain.integrations import sql as integrations
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, Unavailable
from app.domain.kernel.idempotency import OwnKey
from app.domain.kernel.sql import find_turns, take_turns
from app.domain.kernel.turn_cursor import TurnCursor
from app.domain.kernel.unit_of_work import Actor, Notify
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.models import Attestation
from app.domain.messages.requests import Check, Condition, Send

LEASE = timedelta(minutes=1)
RETRY = timedelta(seconds=10)

_DUE = f"""
FROM crm_sends t WHERE t.status = 'waiting' AND t.due_at <= $1 AND (t.claimed_until IS NULL OR t.claimed_until <= $1)
  AND {integrations.is_active("t.integration_id")}
"""
FIND_TURNS = find_turns("crm_sends", "integration_id", "status = 'waiting'")
CLAIM = f"""
WITH {take_turns("integration_id", _DUE)}
UPDATE crm_sends s SET claimed_until = $2, attempts = s.attempts + 1 FROM locked WHERE s.id = locked.id
RETURNING s.id, s.account_id, s.integration_id, s.external_id, s.phone, s.body, s.claimed_until,
  {integrations.number_of("s.integration_id")} AS phone_number_id,
  (SELECT c.kind || '/' || c.location FROM crm_connections c WHERE c.integration_id = s.integration_id) AS location
"""
IS_DUE = f"SELECT EXISTS (SELECT {_DUE})"

# An integration is not removed, nor a contact erased, before the transaction of the sends ends.
FIND_UNCHANGED = f"""
SELECT s.id FROM crm_sends s JOIN unnest($1::bigint[], $2::timestamptz[]) AS claimed(id, until)
  ON claimed.id = s.id AND claimed.until = s.claimed_until
{integrations.join_kept("s.integration_id")}
WHERE s.status = 'waiting' AND s.phone <> '' ORDER BY s.id FOR SHARE OF s FOR KEY SHARE OF i
"""
RECORD = "UPDATE crm_sends SET status = 'sent', reason = '', message_id = $2, claimed_until = NULL WHERE id = $1"
REFUSE = """
WITH refused AS (
  UPDATE crm_sends SET status = 'refused', reason = $2, claimed_until = NULL
  WHERE id = $1 AND status = 'waiting' RETURNING account_id, integration_id, external_id
)
INSERT INTO crm_pushes (account_id, integration_id, kind, external_id, changes, due_at, created_at)
SELECT account_id, integration_id, 'failed', external_id, jsonb_build_object('reason', $3::text), $4, $4 FROM refused
"""
PUT_OFF = "UPDATE crm_sends SET due_at = $2, claimed_until = NULL WHERE id = $1 AND status = 'waiting'"
RELEASE = "UPDATE crm_sends SET claimed_until = NULL WHERE id = $1 AND claimed_until = $2"


class DueSend(NamedTuple):
    """A claimed text."""

    id: int
    account_id: int
    integration_id: int
    external_id: str
    phone: str
    body: str
    claimed_until: datetime
    phone_number_id: int | None
    location: str


@dataclass(frozen=True, slots=True)
class CrmSends:
    """Sends due texts of CRMs; safe to run concurrently."""

    database: Database
    acceptor: SendAcceptor
    clock: Clock
    notify: Notify
    batch: int = 64
    _turns: TurnCursor = field(init=False, default_factory=partial(TurnCursor, FIND_TURNS))

    async def run(self) -> bool:
        """Send one batch of texts; return True when more may be due.

        Those of an integration whose creator has ended wait, as it is paused.
        """
        now = self.clock.now()
        rows = await claims.claim(
            self.database.pool,
            DueSend,
            CLAIM,
            now,
            now + LEASE,
            self.batch,
            await self._turns.find(self.database.pool),
            give_back=self._release,
            seconds=LEASE.seconds,
        )
        check = _unchanged(rows)
        ended = await endings.pause_ended(self.database.pool, [row.integration_id for row in rows], now)
        await self._release([row for row in rows if row.integration_id in ended])
        await asyncio.gather(*(self._attempt(row, check) for row in rows if row.integration_id not in ended))
        return len(rows) == self.batch

    async def due(self) -> bool:
        """Return whether a text is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _attempt(self, row: DueSend, check: Check) -> None:
        send = Send(
            to=row.phone,
            body=row.body,
            consent_attested=True,
            from_phone_number_id=row.phone_number_id,
            idempotency_key=OwnKey("crm", row.location, row.external_id),
            attestation=Attestation.crm,
            condition=Condition(check, row.id),
            is_shown_live=True,
        )
        actor, pool = Actor(row.account_id, frozenset(), f"integration:{row.integration_id}"), self.database.pool
        try:
            accepted = await self.acceptor.accept(actor, send)
        except Unavailable:
            end = partial(pool.execute, PUT_OFF, row.id, self.clock.now() + RETRY)
        except Conflict:
            end = partial(self._release, [row])
        except DomainError as refusal:
            end = partial(pool.execute, REFUSE, row.id, refusal.code, str(refusal), self.clock.now())
        else:
            end = partial(pool.execute, RECORD, row.id, accepted.message_id)
        await claims.persist(end, LEASE.seconds)
        self.notify(TOPIC)

    async def _release(self, rows: Sequence[DueSend]) -> None:
        for row in rows:
            await self.database.pool.execute(RELEASE, row.id, row.claimed_until)


def _unchanged(rows: Sequence[DueSend]) -> Check:
    """Return the check of which texts are claimed as they were, and wait, of contacts and integrations that stay."""
    claimed_until = {row.id: row.claimed_until for row in rows}

    async def check(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
        rows = await connection.fetch(FIND_UNCHANGED, ids, [claimed_until[id] for id in ids])
        return [row["id"] for row in rows]

    return check
