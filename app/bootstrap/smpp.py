"""The binds of SMPP connections that a process holds: each with its lease, its session, and its hand-off."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import structlog

from app.db.engine import UNREACHABLE
from app.domain.carriers.carrier import Carrier, InboundMessage, Receipt
from app.domain.carriers.connections import ConnectionRow, OpenConnection, OpenConnections
from app.domain.carriers.kinds import Configuration
from app.domain.messages.handoff import Handoff
from app.domain.messages.receipts import carrier_ids
from app.jobs.job import Job, Runner
from app.jobs.poller import tick
from app.providers.carriers.smpp.carrier import SmppCarrier
from app.providers.carriers.smpp.connection import ROLE
from app.providers.carriers.smpp.deliveries import Deliveries
from app.providers.carriers.smpp.inbound import Inbound
from app.providers.carriers.smpp.leases import BEGINNING, Lease
from app.providers.carriers.smpp.link import Link
from app.providers.carriers.smpp.session import Session
from app.services import Services
from app.telemetry.metrics import SMPP_BOUND

LEASE_SECONDS = 5.0
RENEW_SECONDS = 1.0
MARGIN_SECONDS = 1.0
"""The time before the end of a lease at which its session is ended, if the lease was not renewed."""

CALL_SECONDS, CLAIM_SECONDS = 35.0, 60.0
"""The time limit of a hand-off, of which the adapter needs at most 30 seconds, and the lease of its claim."""

OVERDUE_SECONDS = 60.0

LOST = "another process holds the lease"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceSink:
    """Passes the texts and receipts of a connection to the services."""

    services: Services
    key: str

    async def take_receipt(self, receipt: Receipt) -> None:
        """Apply a receipt, or store it while its message is unknown."""
        await self.services.receipts.receive(self.key, receipt)

    async def take_message(self, message: InboundMessage) -> None:
        """Receive a message."""
        await self.services.inbox.receive(self.key, message)

    async def keep_unusable(self, kind: str, problem: str, payload: dict[str, str]) -> None:
        """Keep a delivery for inspection."""
        await self.services.inbox.keep_unmatched(self.key, kind, problem, payload)

    async def find_recipients(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the recipients of the messages that have some ids."""
        return await carrier_ids.find_recipients(self.services.database.pool, self.key, ids)


class Bind:
    """One connection that this process holds the lease of; `start` binds it and hands its texts over.

    `row` is the row that `carrier` was opened with.
    """

    def __init__(self, services: Services, lease: Lease, row: ConnectionRow, carrier: SmppCarrier) -> None:
        self.lease = lease
        self.row = row
        self.carrier = carrier
        sink, database = ServiceSink(services, lease.carrier), services.database
        kept = partial(Inbound, lease.carrier, carrier.style.alphabet, database.pool, services.clock)
        self._deliveries = Deliveries(carrier, kept, sink)
        refused = partial(services.health.note_refused_credentials, lease.carrier)
        self.link = Link(carrier.settings, self._deliveries, self._begin, self._holds, refused)
        self._handoff = _open_handoff(services, carrier)
        self._runners = [Runner(job) for job in self._jobs()]
        self._tasks: list[asyncio.Task[None]] = []
        self._guard: asyncio.TimerHandle | None = None

    @property
    def grace(self) -> float:
        """Return the seconds in which it stops: the messages that have begun have the time of a response."""
        return 2 * self.carrier.settings.timers.response

    def start(self) -> None:
        """Bind, and hand off texts, until `stop`."""
        self.carrier.begin(self.link)
        self._tasks = [asyncio.create_task(self.link.run()), asyncio.create_task(tick(self._runners))]
        self.guard()

    def guard(self) -> None:
        """Have the session ended shortly before the lease ends, unless it is renewed first."""
        if self._guard:
            self._guard.cancel()
        wait = max(0.0, self.lease.remaining - MARGIN_SECONDS)
        self._guard = asyncio.get_running_loop().call_later(wait, self.link.drop, "the lease was not renewed")
        SMPP_BOUND.labels(self.lease.carrier).set(self.link.session is not None)

    def wake(self, topic: str) -> None:
        """Start the jobs of a topic."""
        for runner in self._runners:
            if runner.job.topic == topic and self.link.session:
                runner.start()

    async def stop(self, grace: float, *, is_last: bool) -> None:
        """Begin no more messages, let the others end, unbind, and record the submits without a response.

        It takes at most `grace` seconds, of which the messages have half; it may be called again to have it end sooner.
        Unless it `is_last`, the carrier of another bind will `follow` this one's.
        """
        self.carrier.drain(is_last=is_last)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        stopping = [asyncio.create_task(runner.stop(grace)) for runner in self._runners]
        await asyncio.wait(stopping, timeout=grace / 2)
        await self.link.stop(grace / 4)
        await asyncio.gather(*stopping, self._deliveries.close())
        if self._guard:
            self._guard.cancel()
        SMPP_BOUND.labels(self.lease.carrier).set(0)

    def _jobs(self) -> Sequence[Job]:
        handoff, overdue = self._handoff, self._deliveries.give_overdue
        sends, questions = handoff.sends, handoff.questions
        due, lapsed = self._if_bound(handoff.due), self._if_bound(handoff.lapsed)
        return (
            Job("messages", self._if_bound(handoff.run), due, finish=handoff.finish, watch=sends.watch),
            Job("reconcile", handoff.reconcile, lapsed, finish=handoff.finish_questions, watch=questions.watch),
            Job("smpp_overdue", overdue, self._if_bound(_always), every=OVERDUE_SECONDS),
        )

    def _if_bound(self, ask: Callable[[], Awaitable[bool]]) -> Callable[[], Awaitable[bool]]:
        """Return a function that does nothing while there is no session, so that texts wait unclaimed."""

        async def asked() -> bool:
            return self.link.session is not None and await ask()

        return asked

    def _begin(self) -> None:
        self._deliveries.begin()
        SMPP_BOUND.labels(self.lease.carrier).set(1)
        for runner in self._runners:
            runner.start()

    def _holds(self) -> bool:
        return self.lease.remaining > 0


@dataclass(slots=True)
class Binds:
    """The binds of this process. Each connection of the role is bound by the first process that gets its lease."""

    services: Services
    holder: str
    _connections: OpenConnections = field(init=False)
    _held: dict[str, Bind] = field(init=False, default_factory=dict)
    _ending: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Follow the connections of the role."""
        self._connections = replace(self.services.connections, role=ROLE)

    async def run(self) -> None:
        """Take leases that are free, and renew those that are held, until cancelled."""
        while True:
            try:
                await self._follow()
            except Exception:
                log.exception("smpp_binds_not_followed")
            await asyncio.sleep(RENEW_SECONDS)

    def wake(self, topic: str) -> None:
        """Start the jobs of a topic."""
        for bind in self._held.values():
            bind.wake(topic)

    def sessions(self) -> list[Session]:
        """Return the bound sessions."""
        return [session for bind in self._held.values() if (session := bind.link.session)]

    async def stop(self, grace: float) -> None:
        """Stop the binds, and give their leases up. `run` has ended."""
        ending = list(self._ending.values())
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await asyncio.gather(*(self._end(bind, grace) for bind in self._held.values()), return_exceptions=True)
        await self._connections.close()

    async def _follow(self) -> None:
        await self._connections.refresh()
        served = {each.row.key: each for each in self._connections.served()}
        for key in self._held.keys() - served.keys() - self._ending.keys():
            self._begin_to_end(self._held[key])
        holding = (self._hold(key, each) for key, each in served.items() if key not in self._ending)
        for failure in filter(None, await asyncio.gather(*holding, return_exceptions=True)):
            raise failure  # after all have ended: a connection that is followed twice at a time would be bound twice

    async def _hold(self, key: str, connection: OpenConnection) -> None:
        """Renew the lease of a bind, or begin one where the lease is free; replace it where its settings changed."""
        bind = self._held.get(key)
        lease = bind.lease if bind else Lease(self.services.database.pool, key, self.holder, LEASE_SECONDS)
        try:
            async with asyncio.timeout(LEASE_SECONDS / 2):
                is_held = await lease.acquire(bind.link.problem if bind else BEGINNING)
        except TimeoutError:
            return
        if bind is None:
            if is_held:
                self._begin(lease, connection)
        elif not is_held:
            bind.link.drop(LOST)
            self._begin_to_end(bind)
        elif bind.row.configuration != connection.row.configuration:
            self._begin_to_end(bind, connection)
        else:
            bind.guard()

    def _begin(self, lease: Lease, connection: OpenConnection, former: SmppCarrier | None = None) -> None:
        if not isinstance(connection.carrier, SmppCarrier):
            return
        if former:
            connection.carrier.follow(former)
        self._held[lease.carrier] = Bind(self.services, lease, connection.row, connection.carrier)
        self._held[lease.carrier].start()
        log.info("smpp_lease_taken", connection=lease.carrier)

    def _begin_to_end(self, bind: Bind, successor: OpenConnection | None = None) -> None:
        """Have a bind end, while the leases of others are renewed."""
        key = bind.lease.carrier
        self._ending[key] = asyncio.create_task(self._end(bind, bind.grace, successor))
        self._ending[key].add_done_callback(lambda _: self._ending.pop(key))

    async def _end(self, bind: Bind, grace: float, successor: OpenConnection | None = None) -> None:
        """Stop a bind; then give its lease up, or bind the successor with it."""
        renewing = asyncio.create_task(self._renew(bind))
        try:
            await bind.stop(grace, is_last=successor is None)
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        del self._held[bind.lease.carrier]
        if successor and bind.lease.remaining > 0:
            self._begin(bind.lease, successor, bind.carrier)
            return
        with suppress(Exception):  # it ends by itself
            await bind.lease.release()
        log.info("smpp_lease_released", connection=bind.lease.carrier)

    async def _renew(self, bind: Bind) -> None:
        """Renew the lease of a bind that ends, until cancelled."""
        is_held = True
        while is_held:
            with suppress(*UNREACHABLE):
                is_held = await bind.lease.acquire(bind.link.problem)
            bind.guard()
            await asyncio.sleep(RENEW_SECONDS)


async def _always() -> bool:
    return True


def _open_handoff(services: Services, carrier: SmppCarrier) -> Handoff:
    """Return a hand-off of one connection; an account alone may use half of the places, which is the whole window.

    It follows the row of the connection, but sends through this carrier only, because no other one is bound.
    """

    def open(configuration: Configuration) -> Carrier:
        return carrier if configuration.key == carrier.key else services.connections.open(configuration)

    connections = replace(services.connections, role=ROLE, keys=[carrier.key], open=open)
    window = 2 * carrier.settings.window
    pace = replace(services.handoff.pace, window=window, timeout=CALL_SECONDS, lease=CLAIM_SECONDS)
    return replace(services.handoff, connections=connections, pace=pace)
