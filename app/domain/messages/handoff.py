"""Hand-off of messages to carriers: claim, begin the call, record the answer.

A claim is committed before the call and its record after it, so no transaction is open during a call. `Beginnings`
checks the gates again when the call begins, while the recipient cannot opt out. Promotional texts are claimed after the
others, few at a time, and no claim of others waits for them; while others come, few are in progress (`Promotions`).

After a claim that outlives its lease, and after an answer that never came, the carrier is asked whether it has the
message, again and again with longer waits (`questions.py`); the message is sent again only when the carrier certainly
does not have it. A message whose carrier could not be asked within `Pace.unconfirmed_after` becomes sent and
unconfirmed. Claims are written and judged by a clock that follows the database's: other machines have their own.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from app.db import claims, rows
from app.db.engine import UNREACHABLE, Connection, Database, transaction
from app.domain.carriers.carrier import Ambiguous, Answer, FailureCode, Rejected
from app.domain.carriers.connections import OpenConnection, OpenConnections
from app.domain.carriers.health import Health
from app.domain.kernel.clock import Clock
from app.domain.kernel.time_limit import TimeLimit
from app.domain.kernel.unit_of_work import Notify
from app.domain.messages import division, outgoing, pacing, retries
from app.domain.messages.beginnings import Beginnings
from app.domain.messages.division import UNPACED, WaitingText
from app.domain.messages.outgoing import PROMOTIONAL, Claim, ClaimedText, NumberCursor, WaitingNumber
from app.domain.messages.pacing import Buckets, carrier_bucket, number_bucket
from app.domain.messages.promotions import Promotions
from app.domain.messages.questions import Questions, message_of, report
from app.domain.messages.recording import Recorder, Result
from app.domain.messages.vacuum import QueueVacuum
from app.domain.messages.window import Room, Window

CLOSE_SECONDS = 0.5
"""The time that calls of synchronous sends have left when the process ends: it is killed if it does not end soon."""

C = TypeVar("C", Claim, ClaimedText)
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Pace:
    """Limits of the calls in flight in a process, and of their duration. Durations are seconds.

    A carrier that did not answer is first queried after `ambiguous_wait`, and no longer after `unconfirmed_after`.
    """

    window: int = 800
    timeout: float = 10.0
    lease: float = 30.0
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
    _beginnings: Beginnings = field(init=False)
    _limit: TimeLimit = field(init=False)
    _questions: Questions = field(init=False)
    _promotions: Promotions = field(init=False)
    _vacuum: QueueVacuum = field(init=False)
    _numbers: NumberCursor = field(init=False, default_factory=NumberCursor)
    _claiming: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _promoting: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _is_asked: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _asking: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _kept: set[asyncio.Task[Any]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        """Open the windows."""
        object.__setattr__(self, "sends", Window(self.pace.window))
        object.__setattr__(self, "questions", Window(self.pace.window))
        object.__setattr__(self, "_promotions", Promotions(self.sends.announce))
        wait = timedelta(seconds=self.pace.ambiguous_wait)
        ends_after, limit = timedelta(seconds=self.pace.unconfirmed_after), TimeLimit(self.pace.timeout)
        recorder = Recorder(self.database, self.clock, self.notify, self.pace.lease, wait, ends_after)
        asking = Questions(self.database.pool, self.connections, self.clock, limit, ends_after)
        object.__setattr__(self, "_recorder", recorder)
        object.__setattr__(self, "_limit", limit)
        object.__setattr__(self, "_questions", asking)
        object.__setattr__(self, "_beginnings", Beginnings(self.database.pool, self.clock))
        object.__setattr__(self, "_vacuum", QueueVacuum(self.database.pool))

    async def run(self) -> bool:
        """Claim the texts that the window has room for, and begin to hand them over; return True when more may be due.

        Texts without room are claimed when `sends` announces some. `finish` waits for the calls.
        """
        async with self._claiming:
            waiting = await self._find_waiting()
            others = [each for each in waiting if each.lane != PROMOTIONAL]
            urgent = await self._claim_waiting(others)
            self._start(urgent)
        if urgent:
            self._promotions.note_urgent()
        is_promoting = await self._promote([each for each in waiting if each.lane == PROMOTIONAL])
        await self._vacuum.run()
        may_claim = bool(urgent) and bool(_with_room(others, self.sends.room()))
        if may_claim or is_promoting or (self.sends.free and self._numbers.has_more):
            return True
        self.sends.await_room()
        return False

    async def finish(self) -> None:
        """Wait until the calls in flight, and those of a claim in progress, are answered, and the answers recorded."""
        async with self._claiming, self._promoting:
            pass
        await self.sends.finish()

    async def hand_over(self, message_id: int, claimed_until: datetime) -> None:
        """Hand off one message that was accepted with a claim, unless another worker has the claim now.

        Its caller waits, so it is tried on no other day: a refusal that passes with the day fails it.
        A message of a connection that is paused, or that processes of another role serve, waits in the queue.
        """
        find = partial(rows.fetch, self.database.pool, Claim, outgoing.FIND_CLAIM, message_id, claimed_until)
        for claim in await claims.persist(find, self.pace.lease):
            if await self._may_hand_over(claim):
                await self._hand_over(claim, is_awaited=True)
            else:
                await self._return(claim)

    async def keep(self, work: Coroutine[Any, Any, R]) -> R:
        """Return the result of some work, which goes on when its caller is cancelled; `close` waits for it."""
        task = asyncio.create_task(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Wait for the work that is kept; cancel what takes long, as the end of the process would."""
        if self._kept:
            _, late = await asyncio.wait(self._kept, timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def reconcile(self) -> bool:
        """Begin to ask carriers for messages whose state is unknown; return True when more may be due.

        `finish_questions` waits for the answers.
        """
        await self.connections.refresh()
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
        """Tell whether a message waits to be handed off by this process."""
        served = self.connections.role, self.connections.keys
        is_due, _ = await asyncio.gather(
            self.database.pool.ask(outgoing.IS_DUE, self.clock.now(), *served), self.connections.refresh()
        )
        return is_due

    async def lapsed(self) -> bool:
        """Tell whether this process must ask a carrier for a message."""
        await self.connections.refresh()
        served = self.connections.role, self.connections.keys
        return await self.database.pool.ask(outgoing.IS_LAPSED, self.clock.now(), *served)

    async def _promote(self, numbers: Sequence[WaitingNumber]) -> bool:
        """Begin to hand off promotional texts of numbers; return True when more may be due.

        While another slot claims such texts, that one looks again. Other texts are claimed meanwhile, and do not count
        on the slots of the window that this claim may use.
        """
        if self._promoting.locked():
            self._is_asked.set()
            return False
        async with self._promoting:
            self._is_asked.clear()
            room = self._promotions.find_room()
            claimed = await self._claim_waiting(numbers, room) if room else ()
            self._start(claimed)
        return bool(claimed) or self._is_asked.is_set()

    def _start(self, claimed: Sequence[Claim]) -> None:
        self._vacuum.note(len(claimed))
        for claim in claimed:
            self.sends.start(claim.account_id, claim.carrier, self._hand_over(claim))

    async def _find_waiting(self) -> Sequence[WaitingNumber]:
        connections = self.connections
        await connections.refresh()
        if not self.sends.free:
            return ()
        return await self._numbers.find(self.database.pool, connections.role, connections.keys)

    async def _claim_waiting(self, waiting: Sequence[WaitingNumber], most: int | None = None) -> Sequence[Claim]:
        """Claim texts of numbers for which the window has room, at most `most`."""
        window, room = self.sends, self.sends.room()
        numbers = _with_room(waiting, room)
        if not numbers:
            return []
        rates = {key: known.parts_per_second for key in _carriers(numbers) if (known := self.connections.find(key))}
        buckets = pacing.find_buckets(numbers, rates, self.clock.now())
        slots, accounts = min(room.free, most or room.free), {each.account_id for each in numbers}
        with window.reserve(slots, accounts, _carriers(numbers)):
            read = partial(self._claim_of, numbers, buckets, room, slots)
            claimed = await self._claim(read, self._give_back, outgoing.KEEP_ORDER)
        if buckets.wait is not None:
            window.announce_in(buckets.wait)
        return claimed

    async def _claim_of(
        self, numbers: Sequence[WaitingNumber], buckets: Buckets, room: Room, most: int, connection: Connection
    ) -> Sequence[Claim]:
        """Claim texts of numbers within an open transaction, as many as their token buckets and the room allow."""
        await buckets.lock(connection)
        free = [each for each in numbers if buckets.tokens(number_bucket(each.number)) >= 0]
        if not free:
            return []
        now, until = self._lease()
        waiting = await rows.fetch(connection, WaitingText, outgoing.LOCK_WAITING, now, *_divide(room, most, free))
        chosen = division.divide(waiting, room, most, buckets.tokens_of(free))
        await connection.execute(outgoing.CLAIM, rows.integers([each.message_id for each in chosen]), until)
        claimed = [_claim(each, until) for each in chosen]
        await buckets.take(connection, claimed)
        return claimed

    async def _claim_lapsed(self, connection: Connection) -> Sequence[ClaimedText]:
        now, until = self._lease()
        room, served = self.questions.room(), (self.connections.role, self.connections.keys)
        lapsed = await rows.fetch(connection, WaitingText, outgoing.LOCK_LAPSED, now, room.free, *served)
        chosen = division.divide(lapsed, room, room.free, UNPACED)
        ids = rows.integers([each.message_id for each in chosen])
        return await rows.fetch(connection, ClaimedText, outgoing.CLAIM_LAPSED, ids, until)

    async def _claim(
        self,
        read: Callable[[Connection], Awaitable[Sequence[C]]],
        give_back: Callable[[Sequence[C]], Awaitable[object]],
        *settings: str,
    ) -> Sequence[C]:
        opened = transaction(self.database.pool, *settings)
        return await claims.claim_in(opened, read, give_back=give_back, seconds=self.pace.lease)

    def _lease(self) -> tuple[datetime, datetime]:
        now = self.clock.now()
        return now, now + timedelta(seconds=self.pace.lease)

    async def _give_back(self, claimed: Sequence[Claim]) -> None:
        """Let messages that no carrier was called for be handed off at once."""
        await self.database.pool.execute(outgoing.GIVE_BACK, *_claims(claimed))
        self.notify("messages")

    async def _may_hand_over(self, claim: Claim) -> bool:
        """Take the tokens of a message; return False where this process may not call the carrier now."""
        try:
            connection = await self.connections.get(claim.carrier)
            if connection and not self.connections.is_sending(claim.carrier):
                return False
            if connection and (rate := connection.parts_per_second):
                bucket = carrier_bucket(claim.carrier)
                async with transaction(self.database.pool) as taking:
                    await pacing.take(taking, {bucket: claim.segments / rate}, {bucket: rate}, self.clock.now())
        except UNREACHABLE:
            return False
        return True

    async def _return(self, claim: Claim) -> None:
        """Give a claim back; retry until it expires while the database is unreachable."""
        await claims.persist(lambda: self._give_back([claim]), self.pace.lease)

    async def _have_asked(self, texts: Sequence[ClaimedText]) -> None:
        """Let messages whose state is unknown be asked for at once."""
        await self.database.pool.execute(outgoing.ASK_NOW, *_claims(texts), self.clock.now())
        self.notify("reconcile")

    async def _hand_over(self, claim: Claim, *, is_awaited: bool = False) -> None:
        """Hand a claimed text over, unless the claim is another's by now."""
        with self._work(claim):
            try:
                connection = self.connections.find(claim.carrier) or await self.connections.seek(claim.carrier)
                begun = await self._beginnings.begin(claim)
            except UNREACHABLE:
                await self._return(claim)
                return
        if begun:
            result = await self._call(begun.text, connection) if begun.may_call else begun.result
            with self._work(claim):
                await self._record(begun.text, result if is_awaited else retries.retryable(result))

    def _work(self, claim: Claim) -> AbstractContextManager[None]:
        return self._promotions.work() if claim.lane == PROMOTIONAL else nullcontext()

    async def _find_out(self, text: ClaimedText) -> None:
        await self._record(text, retries.retryable(await self._questions.ask(text)))

    async def _record(self, text: ClaimedText, result: Result) -> None:
        self.tally("unsent" if result is None else type(result).__name__.lower())
        await self._recorder.record(text, result)

    async def _call(self, text: ClaimedText, connection: OpenConnection | None) -> Answer | None:
        """Call the carrier; return None, for nothing to record, where the lease is too short for the call."""
        if connection is None:
            return Rejected(FailureCode.account_problem, f"carrier {text.carrier} is not set up")
        if self.clock.now() + timedelta(seconds=self.pace.timeout) > text.claimed_until:
            return None
        answer = await self._send(connection, text)
        self.health.note_answer(text.carrier, answer, text.segments)
        return answer

    async def _send(self, connection: OpenConnection, text: ClaimedText) -> Answer:
        try:
            async with connection:
                return await self._limit.run(connection.carrier.send(message_of(text)))
        except (ConnectionError, TimeoutError):
            return Ambiguous("no answer in time")
        except Exception as error:
            report(text, error)
            return Ambiguous("the carrier's answer was not understood")


def _with_room(numbers: Sequence[WaitingNumber], room: Room) -> list[WaitingNumber]:
    return [each for each in numbers if room.part_of(each.account_id, each.carrier)]


def _divide(
    room: Room, most: int, numbers: Sequence[WaitingNumber]
) -> tuple[list[int], list[str], list[str], list[int]]:
    """Return lanes, carriers and numbers, and for each how many texts it may have if its lane gets all the room."""
    counts = Counter(each.lane for each in numbers)
    parts = [min(most, room.part_of(each.account_id, each.carrier)) for each in numbers]
    shares = [min(-(-room.free // counts[each.lane]), part) for each, part in zip(numbers, parts, strict=True)]
    lanes, carriers = [each.lane for each in numbers], [each.carrier for each in numbers]
    return lanes, carriers, [each.number for each in numbers], shares


def _claim(text: WaitingText, until: datetime) -> Claim:
    shown = text.message_id, text.account_id, text.lane, text.number, text.carrier
    return Claim(*shown, until, text.segments, text.to_number)


def _carriers(numbers: Sequence[WaitingNumber]) -> list[str]:
    return sorted({each.carrier for each in numbers})


def _claims(texts: Sequence[Claim] | Sequence[ClaimedText]) -> tuple[list[int], datetime]:
    return [text.message_id for text in texts], texts[0].claimed_until
