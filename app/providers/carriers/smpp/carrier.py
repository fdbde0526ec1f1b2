"""The carrier of an SMPP connection: submits the parts of messages over the session of its link."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.domain.carriers.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    BadSignature,
    CallbackAnswer,
    CallbackRequest,
    Capabilities,
    CarriedMessage,
    CarrierAccount,
    CarrierNumber,
    FailureCode,
    InboundMessage,
    LookedUpNumber,
    LookupUnsupported,
    OutboundMessage,
    Receipt,
    Rejected,
)
from app.providers.carriers.smpp import addresses, receipts, text
from app.providers.carriers.smpp.link import Link, LinkSettings
from app.providers.carriers.smpp.pdu import Address, ShortMessage
from app.providers.carriers.smpp.session import NotSubmitted, Session, Submitted, Unanswered
from app.providers.carriers.smpp.statuses import LIMITS, Status, refuse
from app.providers.carriers.smpp.text import Alphabet, Part

RECEIPT_WANTED = 1
"""`registered_delivery`: a receipt on success and on failure."""

MOST_UNFINISHED = 10_000
MOST_PARTS = 255
FIRST_LIMIT, LONGEST_LIMIT = 1.0, 30.0
"""Seconds that the connection waits after the SMSC asked for a slower pace; they double while it asks again."""

NOT_BOUND = Rejected(FailureCode.carrier_error, "the connection is not bound", retryable=True)

NOT_SUBMITTED = Rejected(FailureCode.carrier_error, "the message was not wholly submitted", retryable=True)

PARTLY_SUBMITTED = Ambiguous("the process stopped when some parts were submitted")

Responses = dict[int, Submitted | None]
"""The responses to the submitted parts of one message, by their numbers from 1; None for a missing one."""


@dataclass(frozen=True, slots=True)
class PartTag:
    """Identifies a part, so that a late response can be recorded."""

    reference: int
    number: int


@dataclass(frozen=True, slots=True)
class Style:
    """The form in which an SMSC expects messages. `source` replaces the type and plan of senders.

    While an SMSC limits the pace, the parts of a begun message are repeated for `patience` seconds.
    """

    alphabet: Alphabet = Alphabet.gsm_7
    source: tuple[int, int] | None = None
    service_type: str = ""
    patience: float = 10.0


class SmppCarrier:
    """Submits messages over a link. A message without all responses is kept, so that none of its parts goes twice."""

    callback_answer = CallbackAnswer()

    def __init__(self, settings: LinkSettings, style: Style, check: Callable[[], Awaitable[CarrierAccount]]) -> None:
        self.key = settings.name
        self.capabilities = Capabilities(MOST_PARTS, takes_short_codes=True, takes_alphanumeric=True)
        self.settings = settings
        self.style = style
        self.link: Link | None = None
        self._check = check
        self.unfinished: OrderedDict[int, Responses] = OrderedDict()
        self._limit = _Limit()
        self._is_draining = self._is_last = False

    def follow(self, former: "SmppCarrier") -> None:
        """Go on with the messages that the former carrier of the connection has not finished."""
        self.unfinished = former.unfinished

    def begin(self, link: Link) -> None:
        """Send through a link from now on, also after it was drained, as when a lost lease is taken again."""
        self.link, self._is_draining, self._is_last = link, False, False

    def drain(self, *, is_last: bool) -> None:
        """Begin no more messages.

        If it `is_last`, no carrier will `follow` it: a message of which parts were accepted is not sent again then.
        """
        self._is_draining, self._is_last = True, self._is_last or is_last

    async def send(self, message: OutboundMessage) -> Answer:
        """Submit the parts of a message that were not accepted before."""
        session = self.link.session if self.link else None
        if session is None or self._is_draining:
            return NOT_BOUND
        accepted = self._recall(message.reference)
        if self._limit.wait and not accepted:
            return refuse(Status.throttled, timedelta(seconds=self._limit.wait))
        parts = self._split(message)
        await self._submit_all(session, message, parts, accepted)
        return self._conclude(message.reference, len(parts))

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        """Return the answer of late responses; raise `ConnectionError` while one is missing. SMPP finds no message."""
        if message.reference not in self.unfinished:
            raise ConnectionError("an SMSC cannot be asked for a message without its id")
        answer = self._conclude(message.reference, len(self._split(message)))
        if isinstance(answer, Ambiguous):
            raise ConnectionError(answer.reason)
        return [replace(answer, is_ours=True) if isinstance(answer, Accepted) else answer]

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        """Return None: SMSCs differ in the ids that `query_sm` takes, and repeat a receipt that was not answered."""

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        """Return none: an SMSC repeats a message that was not answered."""
        return ()

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        """Return the message: none is listed."""
        return message

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        """Do nothing: SMPP cannot delete a submitted message."""

    async def check(self) -> CarrierAccount:
        """Check the login; raise `ConnectionRefused`, or `ConnectionError` without a response."""
        return await self._check()

    async def list_numbers(self) -> Sequence[CarrierNumber]:
        """Return none: an SMSC does not list senders."""
        return ()

    async def lookup(self, phone: str) -> LookedUpNumber:
        """Refuse: SMPP has no such question."""
        raise LookupUnsupported

    def find_signing_time(self, request: CallbackRequest) -> datetime | None:
        """Return None: an SMSC sends no HTTP requests."""
        return None

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Refuse: an SMSC sends no HTTP requests."""
        raise BadSignature("an SMSC sends no HTTP requests")

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Refuse: an SMSC sends no HTTP requests."""
        raise BadSignature("an SMSC sends no HTTP requests")

    async def close(self) -> None:
        """Do nothing: the link is stopped by the process that runs it."""

    def answered_late(self, tag: PartTag, response: Submitted) -> None:
        """Record a response that came after its submit was given up; `find` returns it."""
        self._record(tag, response)

    def _split(self, message: OutboundMessage) -> list[Part]:
        return text.split(message.body, message.reference, self.style.alphabet)

    async def _submit_all(
        self, session: Session, message: OutboundMessage, parts: Sequence[Part], accepted: Collection[int]
    ) -> None:
        """Submit the first part, and once it is accepted the others."""
        deadline = asyncio.get_running_loop().time() + self.style.patience
        numbered = [(number, part) for number, part in enumerate(parts, 1) if number not in accepted]
        if numbered and await self._submit(session, message, *numbered[0], deadline) and len(numbered) > 1:
            await asyncio.gather(*(self._submit(session, message, *each, deadline) for each in numbered[1:]))

    async def _submit(
        self, session: Session, message: OutboundMessage, number: int, part: Part, deadline: float
    ) -> bool:
        """Submit one part, and return whether it was accepted.

        Where others were accepted, it is repeated until the deadline while the SMSC limits the pace.
        """
        tag, loop = PartTag(message.reference, number), asyncio.get_running_loop()
        while True:
            status = await self._try(session, tag, self._write(message, part))
            if status not in LIMITS:
                return status == Status.ok
            self._limit.extend()
            if not self._has_accepted(tag.reference) or loop.time() + self._limit.wait > deadline:
                return False
            await asyncio.sleep(self._limit.wait)

    async def _try(self, session: Session, tag: PartTag, message: ShortMessage) -> int | None:
        """Submit a message once, and record and return the status of the response, if there is one."""
        self._record(tag, None)
        try:
            response = await session.submit(message, tag)
        except NotSubmitted:
            del self.unfinished[tag.reference][tag.number]
            return None
        except Unanswered:
            return None
        self._record(tag, response)
        if response.status not in LIMITS:
            self._limit.end()
        return response.status

    def _write(self, message: OutboundMessage, part: Part) -> ShortMessage:
        source = addresses.encode(message.from_number)
        if self.style.source:
            source = Address(*self.style.source, source.digits)
        return ShortMessage(
            source,
            addresses.encode(message.to_number),
            part.octets,
            part.data_coding,
            part.esm_class,
            RECEIPT_WANTED,
            service_type=self.style.service_type,
        )

    def _record(self, tag: PartTag, response: Submitted | None) -> None:
        self.unfinished.setdefault(tag.reference, {})[tag.number] = response
        self.unfinished.move_to_end(tag.reference)
        if len(self.unfinished) > MOST_UNFINISHED:
            self.unfinished.popitem(last=False)

    def _recall(self, reference: int) -> Collection[int]:
        """Return the parts that were accepted before; forget the others, which are submitted again."""
        known = self.unfinished.get(reference, {})
        for number in [number for number, response in known.items() if not _is_accepted(response)]:
            del known[number]
        return known

    def _has_accepted(self, reference: int) -> bool:
        return any(map(_is_accepted, self.unfinished.get(reference, {}).values()))

    def _conclude(self, reference: int, count: int) -> Answer:
        """Return the answer that the responses are together; forget them unless the message may be sent again."""
        answer = self._read(self.unfinished.get(reference, {}), count)
        if isinstance(answer, Rejected) and answer.retryable:
            return PARTLY_SUBMITTED if self._is_last and self._has_accepted(reference) else answer
        if not isinstance(answer, Ambiguous):
            self.unfinished.pop(reference, None)
        return answer

    def _read(self, responses: Responses, count: int) -> Answer:
        known = [responses[number] for number in sorted(responses)]
        answered = [response for response in known if response]
        refused = [response.status for response in answered if response.status != Status.ok]
        if len(answered) < len(known):
            return Ambiguous("no response in time")
        if refused:
            return refuse(refused[0], timedelta(seconds=self._limit.wait or FIRST_LIMIT))
        if len(answered) < count:
            return NOT_SUBMITTED
        ids = tuple(receipts.bare(response.message_id) if response.message_id else "" for response in answered)
        return Accepted(ids[0], "accepted", count, part_ids=ids, ids_recur=True)


class _Limit:
    """The wait after an SMSC asked for a slower pace: it doubles when the SMSC asks again after it."""

    def __init__(self) -> None:
        self._seconds = 0.0
        self._until = 0.0

    @property
    def wait(self) -> float:
        """Return the seconds that are left."""
        return max(0.0, self._until - asyncio.get_running_loop().time())

    def extend(self) -> None:
        """Begin a wait, unless one runs."""
        if not self.wait:
            self._seconds = min(2 * self._seconds or FIRST_LIMIT, LONGEST_LIMIT)
            self._until = asyncio.get_running_loop().time() + self._seconds

    def end(self) -> None:
        """Begin with the shortest wait again, once the present one is over."""
        if not self.wait:
            self._seconds = 0.0


def _is_accepted(response: Submitted | None) -> bool:
    return response is not None and response.status == Status.ok
