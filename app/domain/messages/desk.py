"""The desk: where every send is accepted.

While one batch is being decided on, the sends that arrive gather for the next; there is no timer, so a lone send
waits for nothing. One transaction serves a whole batch, which takes the contention from an account's balance: a
send is therefore a transaction of its own, and may not be part of a larger one.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.db.engine import UNREACHABLE, UNSTORABLE, Pool
from app.domain.kernel import idempotency, phone
from app.domain.kernel.clock import Clock
from app.domain.kernel.coalescer import Coalescer
from app.domain.kernel.errors import DomainError, InvalidInput, Unavailable
from app.domain.kernel.idempotency import OwnKey
from app.domain.kernel.unit import Actor, Ring
from app.domain.messages import parts
from app.domain.messages.acceptance import Acceptance, Batch, SendRequest, Verdict
from app.domain.messages.errors import ConsentNotAttested, MessageTooLong
from app.domain.messages.models import Attestation, Purpose

MAX_BATCH = 64


@dataclass(frozen=True, slots=True)
class Send:
    """What a caller asks for. `consent_attested` must be true for what the API sends (47 CFR 64.1200).

    `attestation` is how that was certified. With a `contact_id`, the phone must be that contact's;
    with a `claim`, no worker takes the message up for so long, since the caller hands it over itself.
    """

    to: str
    message: str
    consent_attested: bool
    from_phone_number_id: int | None = None
    idempotency_key: str | None = None
    purpose: Purpose = Purpose.transactional
    attestation: Attestation = Attestation.api
    contact_id: int | None = None
    claim: timedelta | None = None


class Desk:
    """Accepts sends, in batches, one batch at a time in a process."""

    def __init__(self, pool: Pool, clock: Clock, ring: Ring, max_segments: int) -> None:
        self._pool = pool
        self._clock = clock
        self._ring = ring
        self._max_segments = max_segments
        self._verdict = Coalescer(self._serve, MAX_BATCH, _key)

    async def accept(self, actor: Actor, send: Send) -> Acceptance:
        """Debit the send and keep its message, or raise the `DomainError` that says why not.

        The answer is given after the commit. A send with an idempotency key that was answered before is
        answered again; nothing is sent or debited twice.
        """
        verdict = await self._verdict(self._request(actor, send))
        if isinstance(verdict, DomainError):
            raise verdict
        return verdict

    async def close(self) -> None:
        """Wait until every send that was taken has its verdict."""
        await self._verdict.close()

    def _request(self, actor: Actor, send: Send) -> SendRequest:
        """Pass the gates that need no database."""
        if not send.consent_attested:
            raise ConsentNotAttested()
        to = send.to.strip()
        return SendRequest(
            account_id=actor.account_id,
            to=phone.require_recipient(to) if to.startswith("+") else to,
            body=send.message,
            parts=self._parts(send.message),
            purpose=send.purpose,
            attestation=send.attestation if send.purpose is not Purpose.conversational else None,
            actor=actor.label,
            request_id=actor.request_id,
            number_id=send.from_phone_number_id,
            contact_id=send.contact_id,
            claim=send.claim,
            key=None if send.idempotency_key is None else idempotency.check_key(send.idempotency_key),
            fingerprint=_fingerprint(send) if send.idempotency_key is not None else "",
        )

    def _parts(self, body: str) -> parts.Parts:
        if not body.strip():
            raise InvalidInput(reason="message must not be empty.")
        if len(body) > parts.MAX_LENGTH:
            raise MessageTooLong(size=len(body), unit="characters", limit=parts.MAX_LENGTH)
        counted = parts.count(body)
        if counted.segments > self._max_segments:
            raise MessageTooLong(size=counted.segments, unit="segments", limit=self._max_segments)
        return counted

    async def _serve(self, requests: Sequence[SendRequest]) -> Sequence[Verdict]:
        """Give every send of a batch its verdict; one that breaks the batch is found by serving each alone."""
        try:
            return await self._decide(requests)
        except UNSTORABLE as fault:
            if len(requests) > 1:
                return [verdict for request in requests for verdict in await self._serve([request])]
            return [InvalidInput(reason=f"The message cannot be stored: {fault}.")]
        except UNREACHABLE:
            return [Unavailable()] * len(requests)

    async def _decide(self, requests: Sequence[SendRequest]) -> list[Verdict]:
        batch = Batch(requests, self._clock.now())
        async with self._pool.acquire() as connection, connection.transaction():
            verdicts = await batch.decide(connection)
        if batch.drafts:
            self._ring("messages")
        if batch.events:
            self._ring("events")
        return verdicts


def _key(request: SendRequest) -> Hashable:
    """Keep sends with one idempotency key out of one batch: the second waits for the first one's answer."""
    return (request.account_id, request.key) if request.key else None


def _fingerprint(send: Send) -> str:
    """Return what tells two sends with one key apart; a key of our own is all there is to tell."""
    if isinstance(send.idempotency_key, OwnKey):
        return send.idempotency_key
    return idempotency.fingerprint(
        "send_message", to=send.to, message=send.message, from_phone_number_id=send.from_phone_number_id
    )
