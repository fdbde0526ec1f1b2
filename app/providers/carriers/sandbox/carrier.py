"""The sandbox carrier: it takes texts for a network of its own, which keeps them in PostgreSQL."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, ClassVar, TypeVar

import asyncpg

from app.db.engine import Pool
from app.domain.messages.carrier import (
    Accepted,
    Ambiguous,
    Answer,
    CallbackRequest,
    Capabilities,
    CarriedMessage,
    FailureCode,
    InboundMessage,
    OutboundMessage,
    Receipt,
    Rejected,
)
from app.providers.carriers.sandbox.callbacks import (
    Payload,
    inbound_payload,
    provider_id,
    read_inbound,
    read_status,
    status_payload,
)
from app.providers.carriers.sandbox.numbers import RETRYABLE, Script, script_for
from app.providers.carriers.sandbox.signature import HEADER, verify

T = TypeVar("T")

ACCEPTED = "accepted"

TAKE = """
WITH message AS (
    INSERT INTO sandbox_messages AS known
        (reference, provider_message_id, from_number, to_number, body, outcome, accepted_at)
    VALUES ($1, $2, $3, $4, $5, CASE WHEN $7::bigint > 0 THEN $6 ELSE 'accepted' END, CASE WHEN $7 = 0 THEN now() END)
    ON CONFLICT (reference) DO UPDATE SET
        calls = known.calls + 1,
        outcome = CASE WHEN known.calls < $7 THEN $6 ELSE 'accepted' END,
        accepted_at = CASE WHEN known.calls = $7 THEN now() ELSE known.accepted_at END
    RETURNING calls, outcome
), owed AS (
    INSERT INTO sandbox_callbacks (reference, kind, payload, due_at)
    SELECT $1, step.kind, step.payload, now() + step.wait * interval '1 second'
    FROM message, jsonb_to_recordset($8) AS step (kind text, payload jsonb, wait double precision)
    WHERE message.calls = $7 + 1
)
SELECT outcome FROM message
"""

FIND = "SELECT outcome, to_number FROM sandbox_messages WHERE reference = $1"

FORGET = """
WITH reports AS (DELETE FROM sandbox_callbacks WHERE reference = ANY($1::bigint[]))
DELETE FROM sandbox_messages WHERE reference = ANY($1::bigint[])
"""


class SandboxCarrier:
    """Takes every text, and does with it what `numbers.MAGIC` says of the number it goes to.

    The receipts come `delay` seconds apart. `timeout` is how long a hand-off may take, in seconds,
    and how long one waits that the script leaves unanswered.
    """

    name: ClassVar[str] = "sandbox"
    capabilities: ClassVar[Capabilities] = Capabilities(max_segments=24)

    def __init__(
        self, pool: Pool, secret: bytes, delay: float, timeout: float, now: Callable[[], float] = time.time
    ) -> None:
        self._pool = pool
        self._secret = secret
        self._delay = delay
        self._timeout = timeout
        self._now = now

    async def send(self, message: OutboundMessage) -> Answer:
        """Hand one message over."""
        try:
            return await self._ask(self._hand_over(message))
        except ConnectionError as error:
            return Ambiguous(str(error))

    async def find(self, reference: int) -> Accepted | Rejected | None:
        """Ask whether the network has a message of ours; raise `ConnectionError` while it cannot be asked."""
        found = await self._ask(self._pool.fetchrow(FIND, reference))
        if found is None:
            return None
        if not script_for(found["to_number"]).told:
            raise ConnectionError("the network does not say")
        return _answer(reference, found["outcome"])

    async def forget(self, messages: Sequence[CarriedMessage]) -> None:
        """Delete what the network keeps of messages; raise `ConnectionError` while it cannot be asked."""
        await self._ask(self._pool.execute(FORGET, [message.reference for message in messages]))

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Verify and read a status callback; raise `BadSignature` or `MalformedCallback`."""
        self._verify(request)
        return [read_status(request.body)]

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Verify and read an inbound callback; raise `BadSignature` or `MalformedCallback`."""
        self._verify(request)
        return [read_inbound(request.body)]

    async def _ask(self, question: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._timeout):
                return await question
        except TimeoutError:
            raise ConnectionError(f"no answer within {self._timeout:g} seconds") from None
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            raise ConnectionError(str(error)) from error

    async def _hand_over(self, message: OutboundMessage) -> Accepted | Rejected:
        script = script_for(message.to_number)
        if script.heard:
            answer = await self._take(message, script)
            if script.answered:
                return answer
        return await asyncio.get_running_loop().create_future()  # until the time is up

    async def _take(self, message: OutboundMessage, script: Script) -> Accepted | Rejected:
        outcome = await self._pool.fetchval(
            TAKE,
            message.reference,
            provider_id(message.reference),
            message.from_number,
            message.to_number,
            message.body,
            script.refusal,
            script.refused_calls,
            _owed(message, script, self._delay),
        )
        return _answer(message.reference, outcome)

    def _verify(self, request: CallbackRequest) -> None:
        verify(self._secret, request.body, request.headers.get(HEADER, ""), self._now())


def _answer(reference: int, outcome: str) -> Accepted | Rejected:
    if outcome == ACCEPTED:
        return Accepted(provider_id(reference))
    code = FailureCode(outcome)
    return Rejected(code, carrier_error=outcome, retryable=code in RETRYABLE)


def _owed(message: OutboundMessage, script: Script, delay: float) -> list[dict[str, Any]]:
    payloads: list[tuple[str, Payload]] = [
        ("status", status_payload(message.reference, report.status, report.code)) for report in script.reports
    ]
    if script.reply is not None:
        reply_id = f"sbx_in_{message.reference}"
        reply = inbound_payload(reply_id, message.to_number, message.from_number, script.reply)
        payloads.append(("inbound", reply))
    return [
        {"kind": kind, "payload": payload, "wait": script.wait + delay * step}
        for step, (kind, payload) in enumerate(payloads, start=1)
    ]
