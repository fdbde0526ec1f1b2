"""Accepts sends in batches.

Sends that arrive while a batch is decided form the next batch. There is no timer, so a single send is decided at once.
One transaction per batch avoids contention for an account's balance; a send therefore cannot be part of a larger
transaction.

The commit of a batch does not wait for the disk, so that the next batch can lock its accounts and be decided meanwhile.
The sends are answered when their batch is on the disk. If its first send arrives while another batch is decided, the
transaction of a batch begins then.

A batch does not wait for locks. The sends of an account that another transaction has locked wait in a queue of that
account and do not delay other accounts.
"""

import asyncio
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from operator import attrgetter

from app.db.engine import CONTENDED, UNREACHABLE, UNSTORABLE, Connection, Pool, is_unplaced
from app.domain.carriers.connections import OpenConnections
from app.domain.kernel import idempotency, sms_parts
from app.domain.kernel.account_queues import AccountQueues
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError, InvalidInput, Unavailable
from app.domain.kernel.idempotency import OwnKey
from app.domain.kernel.micro_batcher import MicroBatcher, serve_parts
from app.domain.kernel.sms_parts import Parts
from app.domain.kernel.unit_of_work import Actor, Notify
from app.domain.messages.eligibility import facts
from app.domain.messages.requests import Acceptance, Phone, Send, SendRequest
from app.domain.messages.sending import explanation
from app.domain.messages.sending.acceptance import Batch, KeyTaken, Verdict
from app.domain.messages.sending.bulk import BulkAcceptance
from app.domain.messages.sending.explanation import Explanation
from app.domain.messages.sending.transactions import BatchTransactions

MAX_BATCH = 64
FLUSH = "SELECT pg_logical_emit_message(true, 'messaging', '')"
"""Return when the WAL up to this transaction is on the disk; without a write, no transaction waits for it.

It must be sent on the connection of a batch: no other one is certain to reach a server that has not crashed since.
"""

UNSTORABLE_VALUE = (
    "The message cannot be stored: a value is out of range, or holds a character that is none, such as U+0000. "
    "Correct it and send again."
)
BATCH_CONNECTIONS = 3
"""Connections for a batch that is decided, one that is flushed, and the prepared transaction of the next one.

In a smaller pool, the queues could keep all others, and the prepared transaction the last one.
"""

WAITING = 4
"""Default number of account queues that wait in the database concurrently; each uses a connection."""


class _NotFlushed(Exception):
    """A batch was committed, and is not certain to be on the disk."""


class SendAcceptor:
    """Accepts sends in batches: one batch at a time in a process, and one in each account's queue.

    The queues use at most `waiting` connections; the pool must have more.
    """

    def __init__(
        self, pool: Pool, clock: Clock, notify: Notify, connections: OpenConnections, waiting: int = WAITING
    ) -> None:
        self._pool = pool
        self._transactions = BatchTransactions(pool)
        self._may_prepare = pool.get_max_size() >= waiting + BATCH_CONNECTIONS
        self._clock = clock
        self._notify = notify
        self._connections = connections
        self._line: MicroBatcher[SendRequest, Verdict | asyncio.Task[Verdict]]
        self._line = MicroBatcher(self._serve_all, MAX_BATCH, _key, attrgetter("account_id"))
        self._queues = AccountQueues(self._serve_waiting, MAX_BATCH, waiting, _key)

    async def accept(self, actor: Actor, send: Send) -> Acceptance:
        """Debit the send and store its message, or raise the `DomainError` that refuses it.

        Returns after the commit. A send with a known idempotency key gets the stored answer; nothing is sent or
        debited twice.
        """
        verdict = await self._decide_on(self._request(actor, send))
        if isinstance(verdict, DomainError):
            raise verdict
        return verdict

    @property
    def max_segments(self) -> int:
        """Return the most SMS parts that any connection takes; accept checks the limit of the number's own."""
        return self._connections.most_segments()

    async def open_bulk(self, connection: Connection, account_id: int, carriers: Iterable[str]) -> BulkAcceptance:
        """Return the acceptance of many texts of an account, through some connections; see `bulk`."""
        wanted = set(carriers)
        await self._connections.refresh_on(connection)
        await self._connections.learn(wanted, connection)
        most = {key: self._connections.max_segments(key) for key in wanted}
        return await BulkAcceptance.of(connection, account_id, self._clock.now(), most)

    async def accept_all(
        self, connection: Connection, actor: Actor, sends: Sequence[tuple[Send, Parts]]
    ) -> Sequence[Verdict]:
        """Accept or refuse each of many sends of an account in the caller's transaction, with their parts.

        Their phones are those of contacts, in E.164 and fit to be texted. The caller has locked the account, and
        notifies `messages` and `events` after the commit.
        """
        requests = [SendRequest(send, actor, Phone(send.to), parts, "") for send, parts in sends]
        await self._connections.refresh_on(connection)
        batch = Batch(requests, self._clock.now(), self._connections, waits=True)
        return [verdict or Unavailable() for verdict in await batch.decide(connection)]

    async def explain(self, actor: Actor, send: Send) -> Explanation:
        """Return the verdict of every gate on a send; nothing is written."""
        try:
            return await explanation.explain(
                self._pool, self._request(actor, send), self._connections, self._clock.now()
            )
        except UNSTORABLE:
            raise InvalidInput(reason=UNSTORABLE_VALUE, field="body") from None

    async def close(self) -> None:
        """Wait until every accepted or refused send has its verdict."""
        await self._line.close()
        await self._queues.close()
        await self._transactions.close()

    async def _decide_on(self, request: SendRequest) -> Verdict:
        if request.account_id in self._queues:
            return await self._queues(request.account_id, request)
        if self._line.load and self._may_prepare:
            self._transactions.prepare()
        verdict = await self._line(request)
        return await verdict if isinstance(verdict, asyncio.Task) else verdict

    def _request(self, actor: Actor, send: Send) -> SendRequest:
        return SendRequest(
            send,
            actor,
            phone=_read_phone(send),
            parts=sms_parts.count(send.body[: sms_parts.MAX_LENGTH]),
            fingerprint=_fingerprint(send),
        )

    async def _serve_all(self, requests: Sequence[SendRequest]) -> Sequence[Verdict | asyncio.Task[Verdict]]:
        """Return for every send of a batch its verdict, or the task that waits for it in the account's queue."""
        verdicts = await self._serve(requests, waits=False, flushes_late=True)
        return [verdict or self._take_aside(request) for request, verdict in zip(requests, verdicts, strict=True)]

    def _take_aside(self, request: SendRequest) -> asyncio.Task[Verdict]:
        return asyncio.create_task(self._queues(request.account_id, request))

    async def _serve_waiting(self, requests: Sequence[SendRequest]) -> Sequence[Verdict]:
        return [verdict or Unavailable() for verdict in await self._serve(requests, waits=True)]

    async def _serve(
        self, requests: Sequence[SendRequest], *, waits: bool, flushes_late: bool = False
    ) -> Sequence[Verdict | None]:
        """Decide on sends; those of a locked account get None.

        When a value cannot be stored or a lock times out, the batch is split and each part is decided alone.
        """
        try:
            return await self._decide(requests, waits=waits, flushes_late=flushes_late)
        except UNSTORABLE as fault:
            if is_unplaced(fault):
                return [Unavailable()] * len(requests)
            if len(requests) == 1:
                return [InvalidInput(reason=UNSTORABLE_VALUE, field="body")]
            parts = range(len(requests))
        except CONTENDED:
            parts = [request.account_id for request in requests]
            if len(set(parts)) == 1:
                return [None] * len(requests)
        except UNREACHABLE:
            return [Unavailable()] * len(requests)
        return await serve_parts(partial(self._serve, waits=waits), requests, parts)

    async def _decide(
        self, requests: Sequence[SendRequest], *, waits: bool, flushes_late: bool
    ) -> Sequence[Verdict | None]:
        try:
            async with self._transactions.open(takes_prepared=not waits) as connection:
                await self._connections.refresh_on(connection)
                batch = Batch(requests, self._clock.now(), self._connections, waits, flushes_late)
                verdicts = await batch.decide(connection)
                await connection.execute("COMMIT")
                self._notify_of(batch)
                if flushes_late:
                    self._line.proceed()
                    await self._flush(connection)
        except KeyTaken:
            return await self._decide(requests, waits=waits, flushes_late=flushes_late)
        except _NotFlushed:
            return [Unavailable()] * len(requests)
        return verdicts

    async def _flush(self, connection: Connection) -> None:
        """Wait for the disk; raise `_NotFlushed` for a fault, after which the batch must not be decided again."""
        try:
            await connection.fetch(FLUSH)
        except UNREACHABLE as fault:
            raise _NotFlushed from fault

    def _notify_of(self, batch: Batch) -> None:
        if batch.accepted:
            self._notify("messages")
        if batch.events:
            self._notify("events")


def _read_phone(send: Send) -> Phone | None:
    if send.contact_id is not None:
        return facts.read_phone_of_contact(send.to)
    to = send.to.strip()
    return facts.read_phone(to) if to.startswith("+") else None


def _key(request: SendRequest) -> Hashable:
    """Return the key that excludes a send from a batch with the same one: it waits for the first one's answer."""
    return (request.account_id, request.key) if request.key else None


def _fingerprint(send: Send) -> str:
    """Return the fingerprint that detects a reused key; a key made by the service is its own fingerprint."""
    if send.idempotency_key is None:
        return ""
    idempotency.check_key(send.idempotency_key)
    if isinstance(send.idempotency_key, OwnKey):
        return send.idempotency_key
    if send.fingerprint is not None:
        return send.fingerprint
    return idempotency.fingerprint(
        "send_message_now" if send.claim else "send_message",
        to=send.to,
        body=send.body,
        from_phone_number_id=send.from_phone_number_id,
        attestation=send.attestation,
        **({"send_at": send.send_at} if send.send_at else {}),
    )
