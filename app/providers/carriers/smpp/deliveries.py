"""Deliveries of an SMSC: receipts and inbound texts, each given on before it is answered."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import uuid4

import structlog

from app.domain.carriers.carrier import InboundMessage, Receipt
from app.domain.kernel.errors import DomainError
from app.providers.carriers.smpp import addresses, inbound, receipts
from app.providers.carriers.smpp.carrier import PartTag, SmppCarrier
from app.providers.carriers.smpp.inbound import Delivery, Inbound
from app.providers.carriers.smpp.pdu import ShortMessage
from app.providers.carriers.smpp.receipts import Spelling
from app.providers.carriers.smpp.session import Reply, Submitted
from app.providers.carriers.smpp.statuses import Status

SLOW_SECONDS = 5.0
"""After a response that took longer, an equal delivery is the repetition of an SMSC that has not waited for it."""

MEMORY_SECONDS = 60.0
MOST_REMEMBERED = 1_000

UNKNOWN_ID_WAITS = (0.1, 0.4, 1.5)
"""Seconds for which a receipt with several readings waits until the response to its submit is recorded."""

log = structlog.get_logger(__name__)


class Sink(Protocol):
    """Takes the texts and receipts of a connection. Each call returns after its commit, and may be repeated."""

    async def take_receipt(self, receipt: Receipt) -> None:
        """Apply a receipt."""
        ...

    async def take_message(self, message: InboundMessage) -> None:
        """Receive a message."""
        ...

    async def keep_unusable(self, kind: str, problem: str, payload: dict[str, str]) -> None:
        """Keep a delivery that cannot be processed, for inspection."""
        ...

    async def find_recipients(self, ids: Sequence[str]) -> Mapping[str, str]:
        """Return the recipients of the messages that have some ids."""
        ...


@dataclass(slots=True)
class _Recent:
    """A delivery of this session: its task, and when it was answered."""

    task: asyncio.Task[int]
    began: float
    answered: float | None = None

    def is_repeated_by(self, now: float) -> bool:
        """Return whether an equal delivery is a repetition, and not another text with the same words."""
        if self.answered is None:
            return True
        return self.answered - self.began > SLOW_SECONDS and now - self.answered < MEMORY_SECONDS


class Deliveries:
    """The receiver of one connection. `begin` starts a session; it repeats unsettled deliveries of an earlier one."""

    def __init__(self, carrier: SmppCarrier, kept: Callable[[inbound.Give], Inbound], sink: Sink) -> None:
        self._carrier = carrier
        self._sink = sink
        self._inbound = kept(self._give)
        self._spelling: Spelling | None = None
        self._session = ""
        self._recent: OrderedDict[bytes, _Recent] = OrderedDict()
        self._settling: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        """Begin a session."""
        self._session = uuid4().hex
        self._recent.clear()

    async def receive(self, message: ShortMessage) -> Reply:
        """Process a delivery and return its response."""
        if not receipts.is_receipt(message):
            return Reply(Status.ok, await self._receive_text(inbound.read(message)))
        said = receipts.read(message)
        if said is None:
            await self._keep(message, "status", "the receipt names no message")
        else:
            id = await self._find_id(said.id, addresses.decode(message.source))
            await self._sink.take_receipt(said.receipt(id))
        return Reply(Status.ok)

    async def keep_malformed(self, body: bytes, problem: str) -> Reply:
        """Keep a delivery that cannot be read for inspection; the SMSC gives it up."""
        await self._sink.keep_unusable("inbound", problem, {"octets": body.hex()})
        return Reply(Status.permanent_error)

    def acknowledged(self, tokens: Sequence[int]) -> None:
        """Forget deliveries that the SMSC has the response to."""
        task = asyncio.create_task(self._settle(tokens))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)

    def answered_late(self, tag: object, response: Submitted) -> None:
        """Have the carrier record the response to a submit that was given up."""
        if isinstance(tag, PartTag):
            self._carrier.answered_late(tag, response)

    async def give_overdue(self) -> bool:
        """Pass on a text that lacks parts after the time for them; return whether there was one."""
        return await self._inbound.give_overdue()

    async def close(self) -> None:
        """Wait until deliveries are settled."""
        await asyncio.gather(*self._settling, return_exceptions=True)

    async def _receive_text(self, delivery: Delivery) -> int:
        now = asyncio.get_running_loop().time
        known = self._recent.get(delivery.digest)
        if known and known.is_repeated_by(now()):
            return await asyncio.shield(known.task)
        task = asyncio.create_task(self._inbound.receive(delivery, self._session))
        recent = self._remember(delivery.digest, _Recent(task, now()))
        try:
            return await asyncio.shield(task)
        except Exception:
            self._recent.pop(delivery.digest, None)
            raise
        finally:
            recent.answered = now()

    def _remember(self, digest: bytes, recent: _Recent) -> _Recent:
        self._recent[digest] = recent
        self._recent.move_to_end(digest)
        if len(self._recent) > MOST_REMEMBERED:
            self._recent.popitem(last=False)
        return recent

    async def _give(self, message: InboundMessage) -> None:
        """Give a text on; keep one that the rules refuse, because its repetition would be refused as well."""
        try:
            await self._sink.take_message(message)
        except DomainError as fault:
            facts = {"from": message.from_number, "to": message.to_number, "body": message.body}
            await self._sink.keep_unusable("inbound", str(fault), facts)

    async def _keep(self, message: ShortMessage, kind: str, problem: str) -> None:
        payload = {"source": message.source.digits, "octets": message.payload.hex()}
        await self._sink.keep_unusable(kind, problem, payload)

    async def _settle(self, tokens: Sequence[int]) -> None:
        try:
            await self._inbound.settle(tokens)
        except Exception as error:  # they expire
            log.warning("smpp_deliveries_not_settled", error=repr(error))

    async def _find_id(self, said: str, recipient: str) -> str:
        """Return the id of the message that a receipt means, and learn how this SMSC spells ids in receipts."""
        spellings = receipts.spellings(said)
        if len({*spellings.values()}) == 1:
            return spellings[Spelling.same]
        for wait in (*UNKNOWN_ID_WAITS, None):
            found = await self._sink.find_recipients([*spellings.values()])
            if chosen := self._choose(spellings, found, recipient):
                return spellings[chosen]
            if wait is None or self._spelling:
                break
            await asyncio.sleep(wait)
        return spellings.get(self._spelling or Spelling.same, spellings[Spelling.same])

    def _choose(self, spellings: Mapping[Spelling, str], found: Mapping[str, str], recipient: str) -> Spelling | None:
        """Return the spelling that a message to the recipient has; the same one also where the recipient differs."""
        fitting = [each for each, id in spellings.items() if found.get(id) == recipient]
        if len(fitting) == 1:
            self._spelling = fitting[0]
        if fitting:
            return self._spelling if self._spelling in fitting else fitting[0]
        return Spelling.same if spellings[Spelling.same] in found else None
