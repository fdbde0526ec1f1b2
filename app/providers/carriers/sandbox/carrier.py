"""The sandbox carrier, whose simulated network stores messages in PostgreSQL."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar

import asyncpg
import orjson

from app.db import rows
from app.db.engine import Pool
from app.domain.carriers.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    CallbackAnswer,
    CallbackRequest,
    Capabilities,
    CarriedMessage,
    CarrierAccount,
    CarrierNumber,
    FailureCode,
    InboundMessage,
    LookedUpNumber,
    OutboundMessage,
    Receipt,
    Rejected,
)
from app.domain.carriers.models import SANDBOX
from app.domain.kernel import phone as phones
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.kernel.phone import NumberValidation
from app.domain.kernel.time_limit import TimeLimit
from app.domain.kernel.unit_of_work import Notify
from app.providers.carriers.sandbox.callbacks import (
    Payload,
    inbound_payload,
    provider_id,
    read_inbound,
    read_status,
    status_payload,
)
from app.providers.carriers.sandbox.numbers import RETRYABLE, Script, script_for
from app.providers.carriers.sandbox.signature import HEADER, read_time, verify

T = TypeVar("T")

ACCEPTED = "accepted"

MAX_SEGMENTS = 24

MAX_BATCH = 200
"""Number of messages that the network takes in one statement."""

TAKE = """
WITH handed AS (
    SELECT place, reference, provider_message_id, from_number, to_number, body, refusal,
        coalesce(refused_calls, 0) AS refused_calls, coalesce(is_tried_again, false) AS is_tried_again
    FROM unnest($1::text::bigint[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[],
        $6::text[], $7::bigint[], $13::boolean[])
        WITH ORDINALITY
        AS h(reference, provider_message_id, from_number, to_number, body, refusal, refused_calls, is_tried_again,
          place)
), message AS (
    INSERT INTO sandbox_messages AS known
        (reference, provider_message_id, from_number, to_number, body, outcome, accepted_at, carrier)
    SELECT reference, provider_message_id, from_number, to_number, body,
        CASE WHEN refused_calls > 0 THEN refusal ELSE 'accepted' END, CASE WHEN refused_calls = 0 THEN now() END, $12
    FROM handed ORDER BY reference
    ON CONFLICT (reference) DO UPDATE SET
        calls = known.calls + 1,
        (outcome, accepted_at) = (
            SELECT CASE WHEN known.calls < refused_calls THEN refusal ELSE 'accepted' END,
                CASE WHEN known.calls = refused_calls THEN now() ELSE known.accepted_at END
            FROM handed WHERE handed.reference = known.reference)
    RETURNING reference, calls, outcome
), owed AS (
    INSERT INTO sandbox_callbacks (reference, carrier, kind, payload, due_at)
    SELECT reference, $12, step.kind, CASE WHEN message.calls = handed.refused_calls + 1 THEN step.payload
        ELSE step.payload || jsonb_build_object('id', format('%s_%s', provider_message_id, message.calls)) END,
      now() + step.wait * interval '1 second'
    FROM message JOIN handed USING (reference) JOIN unnest($8::text::bigint[], $9::text::text[], $10::text::jsonb[],
        $11::text::float8[]) AS step (reference, kind, payload, wait) USING (reference)
    WHERE message.calls = handed.refused_calls + 1 OR handed.is_tried_again
)
SELECT outcome, CASE WHEN is_tried_again THEN calls ELSE 1 END FROM handed JOIN message USING (reference) ORDER BY place
"""

FIND = "SELECT outcome, to_number, calls FROM sandbox_messages WHERE reference = $1"

FIND_STATUS = """
SELECT outcome, to_number, (
  SELECT count(*) FROM sandbox_callbacks WHERE reference = $1 AND kind = 'status' AND due_at > now()
) AS ahead
FROM sandbox_messages WHERE reference = $1
"""
"""Finds a message, with the number of its reports whose time has not come."""

FORGET = """
WITH reports AS (DELETE FROM sandbox_callbacks WHERE reference = ANY($1::bigint[]))
DELETE FROM sandbox_messages WHERE reference = ANY($1::bigint[])
"""


class OwedCallback(NamedTuple):
    """A callback that the network posts after a wait, in seconds."""

    reference: int
    kind: str
    payload: Payload
    wait: float


class SandboxCarrier:
    """Accepts messages with the outcome that `numbers.MAGIC` defines for the recipient.

    Receipts are `delay` seconds apart; the topic `sandbox` is notified of them. `timeout` is the time limit of a
    hand-off in seconds, after which one without an answer ends. `secret` signs the callbacks.
    """

    key = SANDBOX
    capabilities = Capabilities(max_segments=MAX_SEGMENTS, shares_lookups=True, answers_status_queries=True)
    callback_answer = CallbackAnswer()

    def __init__(
        self,
        pool: Pool,
        secret: bytes,
        delay: float,
        timeout: float,
        now: Callable[[], float] = time.time,
        notify: Notify = lambda _: None,
    ) -> None:
        self._pool = pool
        self.secret = secret
        self.numbers: Sequence[str] = ()
        self._delay = delay
        self._limit = TimeLimit(timeout)
        self._now = now
        self._notify = notify
        self._take = MicroBatcher(self._take_all, MAX_BATCH, lambda handed: handed[0].reference)

    async def send(self, message: OutboundMessage) -> Answer:
        """Hand one message over."""
        try:
            return await self._ask(self._hand_over(message))
        except ConnectionError as error:
            return Ambiguous(str(error))

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        """Look up a message in the network; raise `ConnectionError` when it does not answer."""
        found = await self._ask(self._pool.fetchrow(FIND, message.reference))
        if found is None:
            return ()
        script = script_for(found["to_number"])
        if not script.found:
            raise ConnectionError("the network does not answer")
        return (_answer(message.reference, found["outcome"], found["calls"] if script.is_tried_again else 1),)

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        """Return the last report on a message whose time has come, or the first final one."""
        found = await self._ask(self._pool.fetchrow(FIND_STATUS, message.reference))
        if found is None or found["outcome"] != ACCEPTED:
            return None
        script = script_for(found["to_number"])
        if not script.found:
            raise ConnectionError("the network does not answer")
        report = script.find_last(found["ahead"])
        code = report.code or ""
        return Receipt(provider_id(message.reference), report.status, report.status, report.code, code)

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        """Return none: the network repeats its callbacks."""
        return ()

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        """Return the message: none is listed."""
        return message

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        """Delete the network's copies of messages; raise `ConnectionError` when it does not answer."""
        await self._ask(self._pool.execute(FORGET, [message.reference for message in messages]))

    async def check(self) -> CarrierAccount:
        """Return the account of the network, which accepts everyone."""
        return CarrierAccount("Sandbox", {"network": "simulated: no text reaches a phone"})

    async def list_numbers(self) -> Sequence[CarrierNumber]:
        """Return the numbers of the settings; the service makes those of new accounts itself."""
        return [CarrierNumber(number) for number in self.numbers]

    async def lookup(self, phone: str) -> LookedUpNumber:
        """Answer from the numbering plans, at no charge."""
        facts, name = phones.describe(phone), phones.find_carrier(phone).name
        return LookedUpNumber(facts.validation is NumberValidation.valid, facts.line_type, name, facts.region)

    def find_signing_time(self, request: CallbackRequest) -> datetime | None:
        """Return the time in the signature of a callback, which may be wrong."""
        return read_time(request.headers.get(HEADER, ""))

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Verify and read a status callback; raise `BadSignature` or `MalformedCallback`."""
        self._verify(request)
        return [read_status(request.body)]

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Verify and read an inbound callback; raise `BadSignature` or `MalformedCallback`."""
        self._verify(request)
        return [read_inbound(request.body)]

    async def close(self) -> None:
        """Close nothing: the pool is the service's."""

    async def _ask(self, question: Awaitable[T]) -> T:
        try:
            return await self._limit.run(question)
        except TimeoutError:
            raise ConnectionError(f"no answer within {self._limit.seconds:g} seconds") from None
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise ConnectionError(str(error)) from error

    async def _hand_over(self, message: OutboundMessage) -> Accepted | Rejected:
        script = script_for(message.to_number)
        if script.received:
            answer = await self._take((message, script))
            if script.answered:
                return answer
        return await asyncio.get_running_loop().create_future()  # until the time is up

    async def _take_all(self, handed: Sequence[tuple[OutboundMessage, Script]]) -> Sequence[Accepted | Rejected]:
        owed = [callback for message, script in handed for callback in _owed(message, script, self._delay)]
        outcomes = await self._pool.fetch(
            TAKE,
            rows.integers([message.reference for message, _ in handed]),
            rows.texts(provider_id(message.reference) for message, _ in handed),
            rows.texts(message.from_number for message, _ in handed),
            rows.texts(message.to_number for message, _ in handed),
            rows.texts(message.body for message, _ in handed),
            rows.unless_all([script.refusal for _, script in handed], None),
            rows.unless_all([script.refused_calls for _, script in handed], 0),
            rows.integers([callback.reference for callback in owed]),
            rows.texts(callback.kind for callback in owed),
            rows.texts(orjson.dumps(callback.payload).decode() for callback in owed),
            rows.texts(str(callback.wait) for callback in owed),
            self.key,
            rows.unless_all([script.is_tried_again for _, script in handed], False),
        )
        if owed:
            self._notify("sandbox")
        return [_answer(message.reference, *row) for (message, _), row in zip(handed, outcomes, strict=True)]

    def _verify(self, request: CallbackRequest) -> None:
        verify(self.secret, request.body, request.headers.get(HEADER, ""), self._now())


def _answer(reference: int, outcome: str, acceptance: int) -> Accepted | Rejected:
    if outcome == ACCEPTED:
        return Accepted(provider_id(reference, acceptance))
    code = FailureCode(outcome)
    return Rejected(code, carrier_error=outcome, retryable=code in RETRYABLE)


def _owed(message: OutboundMessage, script: Script, delay: float) -> list[OwedCallback]:
    payloads: list[tuple[str, Payload]] = [
        ("status", status_payload(message.reference, report.status, report.code)) for report in script.reports
    ]
    if script.reply is not None:
        reply_id = f"sbx_in_{message.reference}"
        reply = inbound_payload(reply_id, message.to_number, message.from_number, script.reply)
        payloads.append(("inbound", reply))
    return [
        OwedCallback(message.reference, kind, payload, script.wait + delay * step)
        for step, (kind, payload) in enumerate(payloads, start=1)
    ]
