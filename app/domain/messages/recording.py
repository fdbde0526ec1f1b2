"""Records the answers of carriers; messages accepted at about the same time share a transaction."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Literal, NamedTuple

from app.db import claims, rows
from app.db.engine import PLAN_ONCE, UNSTORABLE, Connection, Database, transaction
from app.domain.billing import service as billing
from app.domain.carriers.carrier import Accepted, Ambiguous, FailureCode, Limited, Rejected
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.kernel.clock import Clock
from app.domain.kernel.events import timestamp
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import erased_calls, outcome, outgoing, pacing, retries
from app.domain.messages.eligibility import limited
from app.domain.messages.erased_calls import AcceptedText
from app.domain.messages.events import MessageSent
from app.domain.messages.failures import OwnCode
from app.domain.messages.outgoing import ClaimedText
from app.domain.messages.pacing import carrier_bucket, number_bucket
from app.domain.messages.queries import FINAL_REPORT_WITHIN
from app.domain.messages.receipts import carrier_ids
from app.domain.messages.retries import RefusedText
from app.domain.quiet_hours import service
from app.domain.quiet_hours import sql as quiet_hours
from app.domain.quiet_hours.limits import Deferral

MAX_BATCH = 200
GIVE_UP = timedelta(hours=24)
"""The time after the first attempt from which a text is not tried again; it may have waited for long before."""

RETRY_FIRST, RETRY_MOST = timedelta(seconds=2), timedelta(minutes=10)
SHORT_HOLD = timedelta(seconds=5)
"""The maximum time for which other texts wait after a carrier limits a rate and does not say for how long."""

ASK_MOST = timedelta(minutes=10)
"""The maximum time between two queries about one message."""

ACCEPTED_ONLY = Accepted("", "")
"""An acceptance without its texts, recorded when they cannot be stored."""

# `named` is not joined: PostgreSQL expects one row of an INSERT, and would compare each of its rows with each message.
# PostgreSQL may keep a plan of a time with few messages. `OFFSET 0` has each message found by its id; such a plan would
# compare each with all others of the batch. The LIMIT has each id of a carrier found by its whole key, and the second
# condition of the update has its messages found by their ids; such a plan would read all of them.
RECORD_SENT = f"""
WITH taken AS (
  SELECT a.*, m.status, m.carrier, m.provider_message_id AS known_id
  FROM unnest($1::bigint[], $2::text::text[], $3::text::text[], $5::bigint[], $6::numeric[], $7::text[])
    AS a(id, provider_message_id, carrier_status, parts, charge, currency)
  CROSS JOIN LATERAL (
    SELECT status, carrier, provider_message_id FROM messages WHERE messages.id = a.id FOR UPDATE OFFSET 0
  ) m
), inserted AS ({
    carrier_ids.insert(
        "SELECT carrier, provider_message_id, id AS message_id FROM taken"
        " WHERE known_id IS NULL AND provider_message_id IS NOT NULL"
    )
}), named AS (
  SELECT message_id FROM inserted UNION ALL
  SELECT n.message_id FROM taken CROSS JOIN LATERAL (
    SELECT message_id FROM carrier_ids WHERE carrier = taken.carrier
      AND provider_message_id = taken.provider_message_id AND direction = 'outbound' AND message_id = taken.id LIMIT 1
  ) n WHERE taken.known_id IS NULL
), removed AS ({outgoing.REMOVE})
UPDATE messages m SET provider_message_id = coalesce(taken.known_id,
    CASE WHEN m.id IN (SELECT message_id FROM named) THEN taken.provider_message_id END),
  status = CASE taken.status WHEN 'pending' THEN 'sent' ELSE taken.status END,
  carrier_status = CASE taken.status WHEN 'pending' THEN taken.carrier_status ELSE m.carrier_status END,
  unconfirmed = m.unconfirmed AND m.provider_message_id IS NOT NULL,
  sent_at = coalesce(m.sent_at, $4),
  carrier_segments = coalesce(taken.parts, m.carrier_segments),
  carrier_charge = coalesce(taken.charge, m.carrier_charge),
  carrier_currency = coalesce(taken.currency, m.carrier_currency)
FROM taken WHERE m.id = taken.id AND m.id = ANY($1::bigint[])
RETURNING m.id, m.carrier, m.provider_message_id, m.id IN (SELECT message_id FROM named) AS is_named,
  taken.status = 'pending' AS was_pending
"""


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """The carrier could not be queried about a message in time, and is not queried again."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A gate that the message passed at its acceptance refuses it now, or puts it off for longer than it can wait.

    Or its carrier refuses its sending number since, so that no call is made.
    """

    code: OwnCode | Literal[FailureCode.expired, FailureCode.unregistered_sender]


@dataclass(frozen=True, slots=True)
class Deferred:
    """Quiet hours or a frequency cap of the recipient put the message off; `zones` are those of the recipient."""

    deferral: Deferral
    zones: Sequence[str]


@dataclass(frozen=True, slots=True)
class Gone:
    """The message is no longer pending: a receipt has settled it, or it was erased."""


class RecordedText(NamedTuple):
    """A recorded message; `is_named` if its carrier's id was inserted."""

    id: int
    carrier: str
    provider_message_id: str | None
    is_named: bool
    was_pending: bool


OtherResult = Rejected | Ambiguous | Unconfirmed | Blocked | Gone | None
Result = Accepted | Deferred | OtherResult
"""The result of a hand-off; None if the carrier certainly does not have the message."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Records results, each within its claim; `lease` is in seconds."""

    database: Database
    clock: Clock
    notify: Notify
    lease: float
    ambiguous_wait: timedelta
    unconfirmed_after: timedelta
    _accept: MicroBatcher[tuple[ClaimedText, Accepted], None] = field(init=False)

    def __post_init__(self) -> None:
        """Create the batcher."""
        object.__setattr__(self, "_accept", MicroBatcher(self._record_batch, MAX_BATCH))

    async def record(self, text: ClaimedText, result: Result) -> None:
        """Record a result; retry until the claim expires while the database is unreachable."""
        if isinstance(result, Accepted):
            await self._accept((text, result))
        elif isinstance(result, Deferred):
            await self._persist(partial(self._put_off, text, result))
        else:
            await self._persist(partial(self._record_other, text, result))

    async def _record_batch(self, accepted: Sequence[tuple[ClaimedText, Accepted]]) -> Sequence[None]:
        await self._persist(lambda: self._record_accepted(accepted))
        return [None] * len(accepted)

    async def _persist(self, record: Callable[[], Awaitable[None]]) -> None:
        await claims.persist(record, self.lease)

    async def _record_accepted(self, accepted: Sequence[tuple[ClaimedText, Accepted]]) -> None:
        """Record accepted messages; of an answer with texts that cannot be stored, only the acceptance."""
        try:
            async with transaction(self.database.pool, PLAN_ONCE) as connection:
                has_matched = await _record_sent(connection, accepted, self.clock.now())
        except UNSTORABLE:
            if accepted == (bare := [(text, ACCEPTED_ONLY) for text, _ in accepted]):
                raise
            for each in accepted if len(accepted) > 1 else bare:
                await self._record_accepted([each])
            return
        self.notify("events")
        if has_matched:
            self.notify("receipts")

    async def _record_other(self, text: ClaimedText, result: OtherResult) -> None:
        match result:
            case Gone():
                await self.database.pool.execute(outgoing.REMOVE, [text.message_id])
            case Ambiguous():
                await self._ask_later(text)
            case Unconfirmed():
                await self._settle(text, lambda unit: outcome.presume_sent(unit, text.message_id))
            case Blocked():
                await self._settle(text, lambda unit: _block(unit, text.message_id, result.code))
            case Rejected(retryable=False):
                await self._refuse(text, result)
            case _ if _is_over(text, self.clock.now()):
                await self._fail(text, FailureCode.expired)
            case Rejected() | None:
                await self._try_later(text, result)

    async def _try_later(self, text: ClaimedText, refusal: Rejected | None) -> None:
        """Schedule another hand-off. If the carrier limits a rate, other messages wait too.

        They wait for as long as the carrier asks for; without that only for a moment, because the wait of the refused
        message grows with its own attempts, and the bucket may be that of many accounts.
        """
        if refusal and refusal.code in retries.RULES:
            await self._try_another_day(text, refusal)
            return
        wait = _backoff(text.attempts)
        if refusal and refusal.code is FailureCode.rate_limited:
            wait = min(refusal.retry_after or wait, RETRY_MOST)
            hold = wait if refusal.retry_after else min(wait, SHORT_HOLD)
            of_number = refusal.limited is Limited.number
            bucket = number_bucket(text.number) if of_number else carrier_bucket(text.carrier)
            await pacing.hold(self.database.pool, bucket, self.clock.now() + hold)
        answered = refusal is not None  # a temporary refusal is an answer
        claim, now = ([text.message_id], text.claimed_until), self.clock.now()
        await self.database.pool.execute(outgoing.PUT_BACK, *claim, now + wait, answered, now)

    async def _put_off(self, text: ClaimedText, result: Deferred) -> None:
        """Schedule the hand-off for the time of a deferral. The message is locked first."""
        until, claim = result.deferral.until, ([text.message_id], text.claimed_until)
        async with self.database.pool.acquire() as connection, connection.transaction():
            await limited.show(connection, [(text.message_id, result.deferral, result.zones)])
            await connection.execute(outgoing.PUT_OFF, *claim, until)
            await connection.execute(quiet_hours.COUNT_AT, [text.message_id], until, False)

    async def _try_another_day(self, text: ClaimedText, refusal: Rejected) -> None:
        """Put a message off whose refusal passes with the day, or refuse it where it would be put off for too long."""
        refused = RefusedText(text.message_id, text.account_id, text.to_number, text.purpose, text.created_at)
        async with self.database.pool.acquire() as connection, connection.transaction():
            decided = await retries.decide(connection, [(refused, refusal.code)], self.clock.now())
            if decided:
                until = decided[text.message_id].deferral.until
                await retries.show(connection, decided)
                await connection.execute(outgoing.PUT_BACK, [text.message_id], text.claimed_until, until, True, None)
                await connection.execute(quiet_hours.COUNT_AT, [text.message_id], until, False)
        if not decided:
            await self._refuse(text, refusal)

    async def _ask_later(self, text: ClaimedText) -> None:
        """Schedule the next query of the carrier, after the time that it has not answered, within limits."""
        now, first = self.clock.now(), self.ambiguous_wait
        since = text.unanswered_since or now
        wait = min(max(first, now - since), ASK_MOST, max(first, since + self.unconfirmed_after - now))
        claim = text.message_id, text.claimed_until
        await self.database.pool.execute(outgoing.ASK_LATER, *claim, now + wait, now)

    async def _refuse(self, text: ClaimedText, refusal: Rejected) -> None:
        """Fail a message, with the id that the carrier gave it, so that no text with the same words is taken for it."""
        id = refusal.provider_message_id
        if id and not await carrier_ids.take(self.database.pool, text.carrier, id, text.message_id):
            id = None
        await self._fail(text, refusal.code, refusal.carrier_error, id)

    async def _fail(
        self, text: ClaimedText, code: str, carrier_error: str | None = None, named: str | None = None
    ) -> None:
        await self._settle(text, lambda unit: outcome.fail(unit, text.message_id, code, carrier_error, named))

    async def _settle(self, text: ClaimedText, settle: Callable[[UnitOfWork], Awaitable[object]]) -> None:
        """Settle a message and end its claim, unless another worker has the claim now.

        The balance is locked first, as in every transaction that changes it and messages.
        """
        async with self._unit(text) as unit:
            await billing.lock(unit)
            if await outgoing.end_claim(unit, text):
                await settle(unit)

    def _unit(self, text: ClaimedText) -> AbstractAsyncContextManager[UnitOfWork]:
        actor = Actor(text.account_id, frozenset(), f"carrier:{text.carrier}", text.request_id)
        return open_unit(self.database.sessions, actor, self.clock, self.notify)


def _is_over(text: ClaimedText, now: datetime) -> bool:
    """Tell whether a text that no carrier took is not tried again."""
    if text.expires_at:
        return now >= max(text.created_at + GIVE_UP, text.expires_at)
    return text.tried_since is not None and now >= text.tried_since + GIVE_UP


def _backoff(attempts: int) -> timedelta:
    """Return the time before the next hand-off, which doubles with each attempt."""
    return min(RETRY_MOST, RETRY_FIRST * 2 ** min(attempts - 1, 10))


async def _record_sent(connection: Connection, accepted: Sequence[tuple[ClaimedText, Accepted]], now: datetime) -> bool:
    """Record accepted messages, and the ids that no other message has; return True if unmatched receipts match."""
    accepted = sorted(accepted, key=lambda pair: pair[0].message_id)  # the order in which messages are locked
    ids = [text.message_id for text, _ in accepted]
    recurring = [(text.carrier, id, text.message_id) for text, answer in accepted for id in _recurring_ids(answer)]
    await carrier_ids.free(connection, recurring, now - FINAL_REPORT_WITHIN)
    recorded = await rows.fetch(
        connection,
        RecordedText,
        RECORD_SENT,
        ids,
        rows.texts(answer.provider_message_id or None for _, answer in accepted),
        rows.texts(answer.carrier_status for _, answer in accepted),
        now,
        rows.unless_all([answer.parts for _, answer in accepted], None),
        rows.unless_all([answer.charge and answer.charge.amount for _, answer in accepted], None),
        rows.unless_all([answer.charge and answer.charge.currency for _, answer in accepted], None),
    )
    if len(recorded) < len(ids):
        kept = {row.id for row in recorded}
        erased = [_accepted_text(*pair) for pair in accepted if pair[0].message_id not in kept]
        await erased_calls.note_accepted(connection, erased, now)
    if counting := [text.message_id for text, _ in accepted if text.expires_at]:
        await connection.execute(quiet_hours.COUNT_AT, counting, now, True)
    new = {row.id: row.provider_message_id for row in recorded if row.was_pending}
    sent = [text for text, _ in accepted if text.message_id in new]
    await outbox.record_all(connection, [_sent(text, new[text.message_id], now) for text in sent])
    given = [(row.carrier, row.provider_message_id or "", row.id) for row in recorded if row.is_named]
    parts = {text.message_id: _part_ids(answer) for text, answer in accepted if len(answer.part_ids) > 1}
    if named := [(carrier, id, parts[id]) for carrier, _, id in given if id in parts]:
        await carrier_ids.name_parts(connection, named)
        given += [(carrier, part, id) for carrier, id, ids in named for part in ids[1:]]
    return await carrier_ids.match(connection, given)


def _accepted_text(text: ClaimedText, answer: Accepted) -> AcceptedText:
    return AcceptedText(text.message_id, text.carrier, answer.provider_message_id or None)


def _part_ids(answer: Accepted) -> list[str]:
    """Return the ids of the parts, each once: some carriers name all parts of a message alike."""
    return list(dict.fromkeys(filter(None, answer.part_ids)))


def _recurring_ids(answer: Accepted) -> list[str]:
    ids = {answer.provider_message_id, *answer.part_ids} if answer.ids_recur else ()
    return sorted(filter(None, ids))


async def _block(unit: UnitOfWork, message_id: int, code: str) -> None:
    await outcome.fail(unit, message_id, code)
    await service.count_no_more(unit, message_id)


def _sent(text: ClaimedText, provider_message_id: str | None, now: datetime) -> Recorded:
    event = MessageSent(
        message_id=text.message_id,
        provider_message_id=provider_message_id or "",
        from_number=text.from_number,
        to_number=text.to_number,
        body=text.body or "",
        status="sent",
        segments=text.segments,
        cost=float(text.cost),
        contact_id=text.contact_id,
        contact_first_name=text.first_name or "",
        contact_last_name=text.last_name or "",
        sent_at=timestamp(now),
    )
    return Recorded(text.account_id, event, text.contact_id, text.request_id)
