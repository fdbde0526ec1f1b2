"""Hand-off of messages to carriers: claim, check the gates again, call, record.

A claim is committed before the call and its record after it, so no transaction is open during a call. After a claim
that outlives its lease, and after an answer that never came, the carrier is asked whether it has the message, again and
again with longer waits; the message is sent again only when the carrier certainly does not have it. A message whose
carrier could not be asked within `Pace.unconfirmed_after` stays sent and unconfirmed.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from app.db import claims, rows
from app.db.engine import Connection, Database
from app.domain.carriers.carrier import Accepted, Ambiguous, Answer, FailureCode, OutboundMessage, Rejected
from app.domain.carriers.connections import OpenConnection, OpenConnections
from app.domain.carriers.health import Health
from app.domain.kernel.clock import Clock
from app.domain.kernel.time_limit import TimeLimit
from app.domain.kernel.unit_of_work import Notify
from app.domain.messages import division, outgoing, pacing
from app.domain.messages.eligibility import gates
from app.domain.messages.failures import OwnCode
from app.domain.messages.outgoing import ClaimedText, NumberCursor, WaitingNumber
from app.domain.messages.pacing import Buckets, carrier_bucket, number_bucket
from app.domain.messages.receipts import carrier_ids
from app.domain.messages.recording import Blocked, Deferred, Gone, Recorder, Result, Unconfirmed
from app.domain.messages.window import Window


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits of the calls in flight in a process, and of their duration. Durations are seconds.

    A carrier that did not answer is first queried after `ambiguous_wait`, and no longer after `unconfirmed_after`. The
    facts of a text that was claimed `fresh` ago are read again before its call.
    """

    window: int = 400
    timeout: float = 10.0
    lease: float = 30.0
    fresh: float = 1.0
    ambiguous_wait: float = 5.0
    unconfirmed_after: float = 3600.0


@dataclass(frozen=True, slots=True)
class Handoff:
    """Hands messages to their carriers, any number of these at the same time; `tally` counts the results.

    `sends` and `questions` are the calls in flight in this process.
    """

    database: Database
    connections: OpenConnections
    clock: Clock
    notify: Notify
    pace: Pace
    tally: Callable[[str], None]
    health: Health
    sends: Window = field(init=False)
    questions: Window = field(init=False)
    _recorder: Recorder = field(init=False)
    _limit: TimeLimit = field(init=False)
    _numbers: NumberCursor = field(init=False, default_factory=NumberCursor)
    _claiming: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _asking: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        """Open the windows."""
        object.__setattr__(self, "sends", Window(self.pace.window))
        object.__setattr__(self, "questions", Window(self.pace.window))
        wait = timedelta(seconds=self.pace.ambiguous_wait)
        recorder = Recorder(self.database, self.clock, self.notify, self.pace.lease, wait, self._unconfirmed_after)
        object.__setattr__(self, "_recorder", recorder)
        object.__setattr__(self, "_limit", TimeLimit(self.pace.timeout))

    async def run(self) -> bool:
        """Claim the texts that the window has room for, and begin to hand them over; return True when more may be due.

        Texts without room are claimed when `sends` announces some. `finish` waits for the calls.
        """
        async with self._claiming:
            texts = await self._claim_waiting()
            for text in texts:
                self.sends.start(text.account_id, text.carrier, self._hand_over(text))
        if texts or (self.sends.free and self._numbers.has_more):
            return True
        self.sends.await_room()
        return False

    async def finish(self) -> None:
        """Wait until the calls in flight, and those of a claim in progress, are answered, and the answers recorded."""
        async with self._claiming:
            pass
        await self.sends.finish()

    async def hand_over(self, message_id: int, claimed_until: datetime) -> None:
        """Hand over one message that was accepted with a claim, unless another worker has the claim now.

        A message of a connection that is paused, or that processes of another role serve, waits in the queue.
        """
        pool = self.database.pool
        for text in await rows.fetch(pool, ClaimedText, outgoing.FIND_CLAIMED, message_id, claimed_until):
            connection = await self.connections.get(text.carrier)
            if connection and not self.connections.is_sending(text.carrier):
                await self._give_back([text])
                return
            if connection and (rate := connection.parts_per_second):
                bucket = carrier_bucket(text.carrier)
                async with claims.transaction(pool) as connection:
                    await pacing.take(connection, {bucket: text.segments / rate}, {bucket: rate}, self.clock.now())
            await self._hand_over(text)

    async def reconcile(self) -> bool:
        """Begin to ask carriers for messages whose state is unknown; return True when more may be due.

        `finish_questions` waits for the answers.
        """
        async with self._asking:
            texts = await self._claim(self._claim_lapsed, self._have_asked) if self.questions.free else ()
            for text in texts:
                self.questions.start(text.account_id, text.carrier, self._find_out(text))
        if not texts:
            self.questions.await_room()
        return bool(texts)

    async def finish_questions(self) -> None:
        """Wait until carriers have answered the questions in flight, and the answers are recorded."""
        async with self._asking:
            pass
        await self.questions.finish()

    async def due(self) -> bool:
        """Tell whether a message waits to be handed over by this process."""
        served = self.connections.role, self.connections.keys
        is_due, _ = await asyncio.gather(
            self.database.pool.ask(outgoing.IS_DUE, self.clock.now(), *served), self.connections.refresh()
        )
        return is_due

    async def lapsed(self) -> bool:
        """Tell whether this process must ask a carrier for a message."""
        served = self.connections.role, self.connections.keys
        return await self.database.pool.ask(outgoing.IS_LAPSED, self.clock.now(), *served)

    async def _claim_waiting(self) -> Sequence[ClaimedText]:
        window, connections = self.sends, self.connections
        await connections.refresh()
        served = connections.role, connections.keys
        waiting = await self._numbers.find(self.database.pool, *served) if window.free else []
        numbers = [each for each in waiting if window.has_room_for(each.account_id, each.carrier)]
        if not numbers:
            return []
        rates = {key: known.parts_per_second for key in _carriers(numbers) if (known := connections.find(key))}
        buckets = pacing.find_buckets(numbers, rates, self.clock.now())
        texts = await self._claim(partial(self._claim_of, numbers, buckets), self._give_back)
        if buckets.wait is not None:
            window.announce_in(buckets.wait)
        return texts

    async def _claim_of(
        self, numbers: Sequence[WaitingNumber], buckets: Buckets, connection: Connection
    ) -> Sequence[ClaimedText]:
        """Claim texts of numbers within an open transaction, as many as their token buckets and the window allow."""
        await buckets.lock(connection)
        free = [each for each in numbers if buckets.tokens(number_bucket(each.number)) >= 0]
        if not free:
            return []
        carriers = _carriers(free)
        texts = await rows.fetch(
            connection,
            ClaimedText,
            outgoing.CLAIM,
            *self._lease(),
            *division.columns(self.sends),
            carriers,
            [buckets.tokens(carrier_bucket(key)) for key in carriers],
            *_divide(self.sends.free, free),
            [buckets.tokens(number_bucket(each.number)) for each in free],
        )
        await buckets.take(connection, texts)
        return texts

    async def _claim_lapsed(self, connection: Connection) -> Sequence[ClaimedText]:
        unpaced: tuple[list[str], list[float]] = [], []
        served = self.connections.role, self.connections.keys
        columns = *self._lease(), *division.columns(self.questions), *unpaced, *served
        return await rows.fetch(connection, ClaimedText, outgoing.CLAIM_LAPSED, *columns)

    async def _claim(
        self,
        read: Callable[[Connection], Awaitable[Sequence[ClaimedText]]],
        give_back: Callable[[Sequence[ClaimedText]], Awaitable[object]],
    ) -> Sequence[ClaimedText]:
        transaction = claims.transaction(self.database.pool)
        return await claims.claim_in(transaction, read, give_back=give_back, seconds=self.pace.lease)

    def _lease(self) -> tuple[datetime, datetime]:
        now = self.clock.now()
        return now, now + timedelta(seconds=self.pace.lease)

    async def _give_back(self, texts: Sequence[ClaimedText]) -> None:
        """Let messages that no carrier was called for be handed over at once."""
        await self.database.pool.execute(outgoing.GIVE_BACK, *_claims(texts))
        self.notify("messages")

    async def _have_asked(self, texts: Sequence[ClaimedText]) -> None:
        """Let messages whose state is unknown be asked for at once."""
        await self.database.pool.execute(outgoing.ASK_NOW, *_claims(texts), self.clock.now())
        self.notify("reconcile")

    async def _hand_over(self, text: ClaimedText) -> None:
        current = await self._refresh(text)
        if current:
            await self._record(current, _stop(current, self.clock.now()) or await self._call(current))

    async def _refresh(self, text: ClaimedText) -> ClaimedText | None:
        """Return a text whose facts are fresh enough for its gates; None where the claim is another's by now."""
        claimed_at = text.claimed_until - timedelta(seconds=self.pace.lease)
        if self.clock.now() < claimed_at + timedelta(seconds=self.pace.fresh):
            return text
        claim = text.message_id, text.claimed_until
        return await rows.find(self.database.pool, ClaimedText, outgoing.FIND_CLAIMED, *claim)

    async def _find_out(self, text: ClaimedText) -> None:
        await self._record(text, Gone() if text.body is None else self._conclude(text, await self._find(text)))

    async def _record(self, text: ClaimedText, result: Result) -> None:
        self.tally("unsent" if result is None else type(result).__name__.lower())
        await self._recorder.record(text, result)

    async def _call(self, text: ClaimedText) -> Answer | None:
        """Call the carrier; return None, for nothing to record, where the lease is too short for the call."""
        connection = await self._find_connection(text)
        if connection is None:
            return Rejected(FailureCode.account_problem, f"carrier {text.carrier} is not set up")
        if self.clock.now() + timedelta(seconds=self.pace.timeout) > text.claimed_until:
            return None
        answer = await self._send(connection, text)
        self.health.note_answer(text.carrier, answer, text.segments)
        return answer

    async def _send(self, connection: OpenConnection, text: ClaimedText) -> Answer:
        try:
            async with connection.lend():
                return await self._limit.run(connection.carrier.send(_message(text)))
        except (ConnectionError, TimeoutError):
            return Ambiguous("no answer in time")
        except Exception as error:
            _report(text, error)
            return Ambiguous("the carrier's answer was not understood")

    async def _find(self, text: ClaimedText) -> Answer | None:
        """Ask the carrier; None stands for "it does not have it", `Ambiguous` for "it cannot be asked"."""
        connection = await self._find_connection(text)
        if connection is None:
            return Ambiguous("the carrier is not set up any more")
        try:
            async with connection.lend():
                found = await self._limit.run(connection.carrier.find(_message(text), text.created_at))
            return await self._choose(text, found)
        except (ConnectionError, TimeoutError):
            return Ambiguous("the carrier cannot be asked")
        except Exception as error:
            _report(text, error)
            return Ambiguous("the carrier's answer was not understood")

    async def _find_connection(self, text: ClaimedText) -> OpenConnection | None:
        """Return the connection of a text, also one that was added just now."""
        await self.connections.refresh()
        await self.connections.learn([text.carrier])
        return self.connections.find(text.carrier)

    async def _choose(self, text: ClaimedText, found: Sequence[Accepted | Rejected]) -> Accepted | Rejected | None:
        """Return the first answer whose id no other message has, and take that id.

        Two texts with the same words between the same numbers may be asked for at the same time.
        """
        for answer in found:
            if isinstance(answer, Rejected):
                return answer
            if await carrier_ids.take(self.database.pool, text.carrier, answer.provider_message_id, text.message_id):
                return answer
        return None

    def _conclude(self, text: ClaimedText, found: Answer | None) -> Result:
        """Return the carrier's answer, or the conclusion once it has been asked for long enough."""
        since = text.unanswered_since
        if since is None or self.clock.now() < since + self._unconfirmed_after:
            return found
        match found:
            case Ambiguous():
                return Unconfirmed()
            case None:
                return Rejected(FailureCode.expired)
            case _:
                return found

    @property
    def _unconfirmed_after(self) -> timedelta:
        return timedelta(seconds=self.pace.unconfirmed_after)


def _divide(room: int, numbers: Sequence[WaitingNumber]) -> tuple[list[int], list[str], list[str], list[int]]:
    """Return lanes, carriers and numbers, and for each how many texts it may have if its lane gets all the room."""
    counts = Counter(each.lane for each in numbers)
    shares = [-(-room // counts[each.lane]) for each in numbers]
    lanes, carriers = [each.lane for each in numbers], [each.carrier for each in numbers]
    return lanes, carriers, [each.number for each in numbers], shares


def _carriers(numbers: Sequence[WaitingNumber]) -> list[str]:
    return sorted({each.carrier for each in numbers})


def _claims(texts: Sequence[ClaimedText]) -> tuple[list[int], datetime]:
    return [text.message_id for text in texts], texts[0].claimed_until


def _message(text: ClaimedText) -> OutboundMessage:
    return OutboundMessage(text.message_id, text.from_number, text.to_number, text.body or "", text.segments)


def _report(text: ClaimedText, error: Exception) -> None:
    """Have a defect of a carrier's adapter logged; the carrier may have the message all the same."""
    message = f"message {text.message_id} was given to its carrier, with no answer"
    asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})


def _stop(text: ClaimedText, now: datetime) -> Gone | Blocked | Deferred | None:
    """Check the gates again, because the facts and the time have changed since accept."""
    if text.body is None:
        return Gone()
    facts = text.facts_at(now)
    if refused := gates.find_refusal(gates.HANDOFF_GATES, facts):
        gate, error = refused
        return Blocked(FailureCode.expired if gate.defers else OwnCode(error.code))
    deferral = facts.timing.deferral if facts.timing else None
    return Deferred(deferral, facts.timing.place.zones) if facts.timing and deferral else None
