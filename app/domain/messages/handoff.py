"""Handing messages to carriers: claim, look at the gates again, call, record.

A claim is committed before the call and its record after it, so no transaction is open while a carrier thinks.
A claim that outlives its lease, and an answer that never came, are ambiguous: the carrier is asked whether it has
the message, again and again with longer waits, and the message is sent again only when it surely does not. What cannot
be found out in the time of `Pace.unconfirmed_after` stays sent and unconfirmed. A worker that slept past its lease
gives nothing back: the claim is another's by then.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from app.db import claims
from app.db.engine import UNSTORABLE, Connection, Database
from app.domain.accounts import sql as accounts
from app.domain.consent import sql as consent
from app.domain.contacts import sql as contacts
from app.domain.events import sql as events
from app.domain.kernel.clock import Clock
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import carrier_ids, outcome
from app.domain.messages.carrier import Accepted, Ambiguous, Answer, Carrier, FailureCode, OutboundMessage, Rejected
from app.domain.messages.events import MessageSent, outbound_keys
from app.domain.messages.failures import OwnCode

GIVE_UP = timedelta(hours=24)
RETRY_FIRST, RETRY_MOST = timedelta(seconds=2), timedelta(minutes=10)
ASK_MOST = timedelta(minutes=10)
"""The longest wait between two questions about one message."""

NAMELESS = Accepted("", "")
"""An answer of which only that the carrier has the message can be kept."""

FIND_GATES = f"""
SELECT m.*, c.first_name, c.last_name, {contacts.GATES},
  {consent.is_suppressed("m.account_id", "m.to_number")} AS suppressed,
  {accounts.is_inactive("m.account_id")} AS account_suspended
"""

CLAIM = f"""
WITH due AS (
  SELECT id FROM messages WHERE status = 'pending' AND claimed_until IS NULL AND due_at <= $1
  ORDER BY due_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE messages m SET claimed_until = $2, attempts = attempts + 1 FROM due WHERE m.id = due.id RETURNING m.*
)
{FIND_GATES} FROM claimed m {contacts.join("m.contact_id")} ORDER BY m.due_at, m.id
"""

FIND_CLAIMED = f"""
{FIND_GATES} FROM messages m {contacts.join("m.contact_id")}
WHERE m.id = $1 AND m.status = 'pending' AND m.claimed_until = $2
"""

CLAIM_LAPSED = f"""
WITH lapsed AS (
  SELECT id FROM messages WHERE status = 'pending' AND claimed_until <= $1
  ORDER BY claimed_until LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE messages m SET claimed_until = $2 FROM lapsed WHERE m.id = lapsed.id RETURNING m.*
)
SELECT m.*, c.first_name, c.last_name FROM claimed m {contacts.join("m.contact_id")}
"""

RECORD_SENT = f"""
WITH answered AS (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) AS a(id, provider_message_id, carrier_status)
), taken AS (
  SELECT m.id, m.status, m.carrier, m.provider_message_id FROM messages m
  WHERE m.id = ANY($1::bigint[]) ORDER BY m.id FOR UPDATE
), named AS ({
    carrier_ids.give(
        "SELECT carrier, a.provider_message_id, id AS message_id FROM taken JOIN answered a USING (id)"
        " WHERE taken.provider_message_id IS NULL AND a.provider_message_id IS NOT NULL"
    )
})
UPDATE messages m SET claimed_until = NULL,
  provider_message_id = coalesce(taken.provider_message_id, named.provider_message_id),
  status = CASE taken.status WHEN 'pending' THEN 'sent' ELSE taken.status END,
  carrier_status = CASE taken.status WHEN 'pending' THEN a.carrier_status ELSE m.carrier_status END,
  unconfirmed = m.unconfirmed AND m.provider_message_id IS NOT NULL,
  sent_at = coalesce(m.sent_at, $4)
FROM taken JOIN answered a USING (id) LEFT JOIN named ON named.message_id = id
WHERE m.id = taken.id
RETURNING m.id, m.carrier, m.provider_message_id, named.message_id IS NOT NULL AS is_named,
  taken.status = 'pending' AS was_pending
"""

GIVE_BACK = """
UPDATE messages SET claimed_until = $3, attempts = attempts - $4
WHERE id = ANY($1::bigint[]) AND status = 'pending' AND claimed_until = $2
"""

PUT_BACK = """
UPDATE messages SET claimed_until = NULL, due_at = $3,
  unanswered_since = CASE WHEN $4 THEN NULL ELSE unanswered_since END
WHERE id = $1 AND status = 'pending' AND claimed_until = $2
"""

ASK_LATER = """
UPDATE messages SET claimed_until = $3, unanswered_since = coalesce(unanswered_since, $4)
WHERE id = $1 AND status = 'pending' AND claimed_until = $2
"""
IS_DUE = "SELECT EXISTS (SELECT FROM messages WHERE status = 'pending' AND claimed_until IS NULL AND due_at <= $1)"
IS_LAPSED = "SELECT EXISTS (SELECT FROM messages WHERE status = 'pending' AND claimed_until <= $1)"


@dataclass(frozen=True, slots=True)
class Pace:
    """How much is claimed at once, and for how long. Durations are seconds.

    A carrier that did not answer is asked after `ambiguous_wait`, and no longer after `unconfirmed_after`.
    """

    batch: int = 100
    timeout: float = 10.0
    lease: float = 30.0
    ambiguous_wait: float = 5.0
    unconfirmed_after: float = 3600.0


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The carrier cannot be asked whether it has a message, and is not asked any more."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """Hands messages to their carriers, any number of these at the same time; `tally` counts the results."""

    database: Database
    carriers: Mapping[str, Carrier]
    clock: Clock
    notify: Notify
    pace: Pace
    tally: Callable[[str], None]

    async def run(self) -> bool:
        """Hand over one batch; return True when more may be due."""
        rows = await self._claim(CLAIM, self._give_back)
        await self._hand_over(rows)
        return len(rows) == self.pace.batch

    async def hand_over(self, message_id: int, claimed_until: datetime) -> None:
        """Hand over one message that was accepted with a claim, unless that has lapsed and is another's by now."""
        await self._hand_over(await self.database.pool.fetch(FIND_CLAIMED, message_id, claimed_until))

    async def _hand_over(self, rows: Sequence[Any]) -> None:
        blocked = [(row, code) for row in rows if (code := _blocked(row))]
        open = [row for row in rows if not _blocked(row)]
        for row, code in blocked:
            self.tally("blocked")
            await self._persist(partial(self._fail, row, code))
        answers = await asyncio.gather(*(self._call(row) for row in open))
        await self._record(list(zip(open, answers, strict=True)))

    async def reconcile(self) -> bool:
        """Ask carriers for one batch of messages whose fate is unknown; return True when more may be."""
        rows = await self._claim(CLAIM_LAPSED, self._have_asked)
        found = await asyncio.gather(*(self._find(row) for row in rows))
        await self._record([(row, self._conclude(row, answer)) for row, answer in zip(rows, found, strict=True)])
        return len(rows) == self.pace.batch

    async def due(self) -> bool:
        """Tell whether a message waits to be handed over."""
        return await self.database.pool.fetchval(IS_DUE, self.clock.now())

    async def lapsed(self) -> bool:
        """Tell whether a message's fate must be asked for."""
        return await self.database.pool.fetchval(IS_LAPSED, self.clock.now())

    async def _claim(self, statement: str, give_back: Callable[[Sequence[Any]], Awaitable[object]]) -> Sequence[Any]:
        now = self.clock.now()
        arguments = (now, now + self._lease, self.pace.batch)
        return await claims.claim(
            self.database.pool, dict[str, Any], statement, *arguments, give_back=give_back, seconds=self.pace.lease
        )

    async def _give_back(self, rows: Sequence[Any]) -> None:
        """Let messages that no carrier was called for be handed over at once."""
        ids, claimed_until = [row["id"] for row in rows], rows[0]["claimed_until"]
        await self.database.pool.execute(GIVE_BACK, ids, claimed_until, None, 1)
        self.notify("messages")

    async def _have_asked(self, rows: Sequence[Any]) -> None:
        """Let messages whose fate is unknown be asked for at once."""
        ids, claimed_until = [row["id"] for row in rows], rows[0]["claimed_until"]
        await self.database.pool.execute(GIVE_BACK, ids, claimed_until, self.clock.now(), 0)
        self.notify("reconcile")

    @property
    def _lease(self) -> timedelta:
        return timedelta(seconds=self.pace.lease)

    async def _call(self, row: Any) -> Answer | None:
        """Call the carrier; return None, for nothing to record, where the lease is too short for the call."""
        carrier = self.carriers.get(row["carrier"])
        if carrier is None:
            return Rejected(FailureCode.account_problem, f"carrier {row['carrier']} is not set up")
        if self.clock.now() + timedelta(seconds=self.pace.timeout) > row["claimed_until"]:
            return None
        message = OutboundMessage(row["id"], row["from_number"], row["to_number"], row["body"], row["segments"])
        try:
            async with asyncio.timeout(self.pace.timeout):
                return await carrier.send(message)
        except (ConnectionError, TimeoutError):
            return Ambiguous("no answer in time")
        except Exception as error:
            _report(row, error)
            return Ambiguous("the carrier's answer was not understood")

    async def _find(self, row: Any) -> Answer | None:
        """Ask the carrier; None stands for "it does not have it", `Ambiguous` for "it cannot be asked"."""
        try:
            async with asyncio.timeout(self.pace.timeout):
                return await self.carriers[row["carrier"]].find(row["id"])
        except (KeyError, ConnectionError, TimeoutError):
            return Ambiguous("the carrier cannot be asked")
        except Exception as error:
            _report(row, error)
            return Ambiguous("the carrier's answer was not understood")

    def _conclude(self, row: Any, found: Answer | None) -> Answer | Unconfirmed | None:
        """Return what the carrier said, or what is made of it once it has been asked for long enough."""
        since = row["unanswered_since"]
        if since is None or self.clock.now() < since + self._unconfirmed_after:
            return found
        match found:
            case Ambiguous():
                return Unconfirmed()
            case None:
                return Rejected(FailureCode.expired)
            case _:
                return found

    async def _record(self, answered: Sequence[tuple[Any, Answer | Unconfirmed | None]]) -> None:
        accepted = [(row, answer) for row, answer in answered if isinstance(answer, Accepted)]
        if accepted:
            await self._persist(lambda: self._record_accepted(accepted))
        for row, answer in answered:
            self.tally("unsent" if answer is None else type(answer).__name__.lower())
            await self._persist(partial(self._record_other, row, answer))

    async def _persist(self, record: Callable[[], Awaitable[None]]) -> None:
        """Record what is known though connections are lost, until the claim lapses and the carrier is asked."""
        await claims.persist(record, self.pace.lease)

    async def _record_accepted(self, accepted: Sequence[tuple[Any, Accepted]]) -> None:
        """Record what was sent; of an answer that cannot be stored, that it was."""
        try:
            async with self.database.pool.acquire() as connection, connection.transaction():
                has_matched = await _record_sent(connection, accepted, self.clock.now())
        except UNSTORABLE:
            if accepted == (bare := [(row, NAMELESS) for row, _ in accepted]):
                raise
            for each in accepted if len(accepted) > 1 else bare:
                await self._record_accepted([each])
            return
        self.notify("events")
        if has_matched:
            self.notify("receipts")

    async def _record_other(self, row: Any, answer: Answer | Unconfirmed | None) -> None:
        late = self.clock.now() >= row["created_at"] + GIVE_UP
        match answer:
            case Accepted():
                pass
            case Ambiguous():
                await self._ask_later(row)
            case Unconfirmed():
                async with self._unit(row) as unit:
                    await outcome.presume_sent(unit, row["id"], row["claimed_until"])
            case Rejected(retryable=False):
                await self._fail(row, answer.code, answer.carrier_error)
            case _ if late:
                await self._fail(row, FailureCode.expired)
            case _:
                due_at = self.clock.now() + _backoff(row["attempts"])
                answered = answer is not None  # a refusal for now ends the silence that came before it
                await self.database.pool.execute(PUT_BACK, row["id"], row["claimed_until"], due_at, answered)

    async def _ask_later(self, row: Any) -> None:
        """Have the carrier asked after a wait as long as it has been silent, within limits."""
        now, first = self.clock.now(), timedelta(seconds=self.pace.ambiguous_wait)
        since = row["unanswered_since"] or now
        wait = min(max(first, now - since), ASK_MOST, max(first, since + self._unconfirmed_after - now))
        await self.database.pool.execute(ASK_LATER, row["id"], row["claimed_until"], now + wait, now)

    async def _fail(self, row: Any, code: str, carrier_error: str | None = None) -> None:
        async with self._unit(row) as unit:
            await outcome.fail(unit, row["id"], code, carrier_error, row["claimed_until"])

    def _unit(self, row: Any) -> AbstractAsyncContextManager[UnitOfWork]:
        actor = Actor(row["account_id"], frozenset(), f"carrier:{row['carrier']}", row["request_id"])
        return open_unit(self.database.sessions, actor, self.clock, self.notify)

    @property
    def _unconfirmed_after(self) -> timedelta:
        return timedelta(seconds=self.pace.unconfirmed_after)


def _report(row: Any, error: Exception) -> None:
    """Have a defect of a carrier's adapter logged; the carrier may have the message all the same."""
    context = {"message": f"message {row['id']} was given to its carrier, with no answer", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)


def _blocked(row: Any) -> OwnCode | None:
    """Look at the gates again: what was allowed at accept may have been stopped since."""
    if row["purpose"] == "compliance":
        return None
    if row["account_suspended"]:
        return OwnCode.account_suspended
    if row["suppressed"] or row["contact_status"] == "opted_out":
        return OwnCode.contact_opted_out
    if row["dnd_sms"]:
        return OwnCode.contact_dnd
    if row["held_until"] and row["purpose"] != "conversational":
        return OwnCode.contact_held
    return None


def _backoff(attempts: int) -> timedelta:
    """Return how long a message waits before it is handed over again: longer with every attempt."""
    return min(RETRY_MOST, RETRY_FIRST * 2 ** min(attempts - 1, 10))


async def _record_sent(connection: Connection, accepted: Sequence[tuple[Any, Accepted]], now: datetime) -> bool:
    """Record what was sent, with the ids that are not taken; return True where reports have waited for an id."""
    recorded = await connection.fetch(
        RECORD_SENT,
        [row["id"] for row, _ in accepted],
        [answer.provider_message_id or None for _, answer in accepted],
        [answer.carrier_status for _, answer in accepted],
        now,
    )
    named = {row["id"]: row["provider_message_id"] for row in recorded}
    new = {row["id"] for row in recorded if row["was_pending"]}
    sent = [row for row, _ in accepted if row["id"] in new]
    await connection.execute(
        events.INSERT,
        [row["account_id"] for row in sent],
        [MessageSent.name] * len(sent),
        [row["contact_id"] for row in sent],
        [_sent(row, named[row["id"]], now).payload() for row in sent],
        [row["request_id"] for row in sent],
    )
    given = [(row["carrier"], row["provider_message_id"], row["id"]) for row in recorded if row["is_named"]]
    return await carrier_ids.match(connection, given)


def _sent(row: Any, provider_message_id: str | None, now: datetime) -> MessageSent:
    return MessageSent(**outbound_keys(row, provider_message_id, "sent", float(row["cost"])), sent_at=timestamp(now))
