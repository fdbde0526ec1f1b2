"""Decide on a batch of sends: check the gates, and write the accepted messages.

The statements are SQL text on asyncpg because every send runs them. The areas that own the tables export the SQL
fragments.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.db.engine import Connection
from app.db.rows import fetch, integers, texts, unless_all
from app.domain.accounts import sql as accounts
from app.domain.billing import sql as billing
from app.domain.carriers.connections import OpenConnections
from app.domain.consent import sql as consent
from app.domain.contacts import sql as contacts
from app.domain.contacts.events import NewContact
from app.domain.conversations import sql as conversations
from app.domain.conversations.events import NewConversation
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.kernel import idempotency
from app.domain.kernel import sql as kernel
from app.domain.kernel.errors import Conflict, DomainError
from app.domain.kernel.events import Event, timestamp
from app.domain.messages import outgoing
from app.domain.messages.eligibility import facts, gates
from app.domain.messages.eligibility.facts import AddedContact, OpenedConversation, RequestRow, Sender, SendFacts
from app.domain.messages.eligibility.gates import Gate
from app.domain.messages.eligibility.limited import LimitedBatch, is_limited
from app.domain.messages.events import SendBlocked
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Acceptance, Condition, Phone, SendRequest
from app.domain.messages.reservations import Reservations, Wanted
from app.domain.messages.sending import scheduling
from app.domain.messages.sending.accepted import AcceptedSend

PATIENCE, LONG_PATIENCE = "200ms", "5s"
"""Lock timeouts, set in the first statement so that they cost no round trip."""

LOCK_TO_FLUSH_LATE = f"""
SELECT locked.* FROM ({accounts.LOCK_FREE}) locked CROSS JOIN set_config('synchronous_commit', 'off', true)
"""
"""Lock as `LOCK_FREE` does, in a transaction whose commit does not wait for the disk."""

FIND_FACTS = f"""
SELECT nextval('messages_id_seq') AS message_id, {facts.COLUMNS}, k.fingerprint, k.answer
FROM unnest($1::text::bigint[], $2::text::text[], $3::bigint[], $4::text[], $5::bool[]) WITH ORDINALITY
  AS r(account_id, phone, number_id, key, keeps_number, place)
{facts.JOINS} {kernel.join_answer("r.account_id", "r.key")}
ORDER BY r.place
"""

OPT_OUT_SUPPRESSED = contacts.opt_out_suppressed("$1::text")

DEBITS = "SELECT account_id, id AS message_id, credits, balance_after, actor, $1::timestamptz AS created_at FROM sends"
ATTESTATIONS = """
  SELECT account_id, to_number AS phone, method, id AS message_id, actor, $1::timestamptz AS at
  FROM sends WHERE method IS NOT NULL
"""
QUEUED = """
  SELECT id AS message_id, account_id, lane, from_number AS number, carrier, segments,
    coalesce(leaves_at, $1::timestamptz) AS due_at, claimed_until, expires_at
  FROM sends
"""
TOUCHED = """
  SELECT conversation_id AS id, from_number AS sending_number, purpose <> 'promotional' AS is_answer,
    is_person IS TRUE AS is_person, place
  FROM sends WHERE is_first IS NOT TRUE
"""
WRITE = f"""
WITH sends AS MATERIALIZED (
  SELECT * FROM unnest($4::text::bigint[], $5::text::bigint[], $6::text::bigint[], $7::text::bigint[],
    $8::text::text[], $9::text::text[], $10::text::text[], $11::text::text[], $12::text::bigint[], $13::text::text[],
    $14::text::bigint[], $15::text::text[], $16::text::text[], $17::text::text[], $18::text::text[], $19::text[],
    $20::text::bigint[], $21::text::text[], $22::text::bigint[], $23::timestamptz[],
    $24::timestamptz[], $25::timestamptz[], $26::bool[], $27::bool[]) WITH ORDINALITY
    AS s(id, account_id, contact_id, conversation_id, from_number, to_number, body, purpose, segments, encoding,
      credits, cost, carrier, actor, request_id, original_body, balance_after, method, lane, claimed_until,
      leaves_at, expires_at, is_person, is_first, place)
), sent AS (
  INSERT INTO messages (id, account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    purpose, segments, encoding, credits, cost, carrier, actor, request_id, original_body, created_at)
  SELECT id, account_id, contact_id, conversation_id, 'outbound', from_number, to_number, body, 'pending',
    purpose, segments, encoding, credits, cost::numeric, carrier, actor, request_id, original_body, $1
  FROM sends
), touched AS ({conversations.touch(TOUCHED, "$1")}),
queued AS ({outgoing.INSERT.format(rows=QUEUED)}),
debited AS ({billing.debit_messages(DEBITS)}), attested AS ({consent.record_attestations(ATTESTATIONS)})
{accounts.SET_BALANCES.format(rows="unnest($2::text::bigint[], $3::text::bigint[])")}
"""


Verdict = Acceptance | DomainError


class KeyTaken(Exception):
    """A concurrent request used the same idempotency key. A new transaction finds its answer."""


@dataclass(slots=True)
class Batch:
    """Sends decided in one transaction, each with its own verdict.

    All transactions lock in the order account, idempotency key, contact. Unless `waits` is set, the sends of an
    account that another transaction has locked get no verdict. With `flushes_late`, the commit does not wait for the
    disk.
    """

    requests: Sequence[SendRequest]
    now: datetime
    connections: OpenConnections
    waits: bool = False
    flushes_late: bool = False
    accounts: dict[int, Sender] = field(default_factory=dict)
    balances: dict[int, int] = field(default_factory=dict)
    holding: set[Condition] = field(default_factory=set)
    accepted: list[AcceptedSend] = field(default_factory=list)
    events: list[Recorded] = field(default_factory=list)
    reservations: Reservations = field(init=False)
    limited: LimitedBatch = field(init=False)

    def __post_init__(self) -> None:
        """Begin without reservations and limited texts."""
        self.reservations = Reservations(self.now)
        self.limited = LimitedBatch(self.now)

    async def decide(self, connection: Connection) -> list[Verdict | None]:
        """Accept or refuse every send in order, inside the connection's open transaction; raise `KeyTaken`."""
        await self._lock(connection)
        if not self.accounts and not self.waits:
            return [None] * len(self.requests)
        self.requests = [self._encode(request) for request in self.requests]
        phones = [request.phone or self._read_phone(request) for request in self.requests]
        rows = await fetch(
            connection,
            RequestRow,
            FIND_FACTS,
            integers(request.account_id for request in self.requests),
            texts(each.e164 or "" for each in phones),
            unless_all([request.send.from_phone_number_id for request in self.requests], None),
            unless_all([request.key for request in self.requests], None),
            unless_all([request.send.keeps_number for request in self.requests], usual=True),
        )
        await self.connections.learn((row.carrier for row in rows), connection)
        await self.reservations.read(connection, _find_claimed(self.requests, rows))
        await self.limited.read(connection, self._find_limited(phones))
        verdicts = [self._decide(*each) for each in zip(self.requests, phones, rows, strict=True)]
        if self.accepted:
            await self._write(connection)
            self.events += [
                _recorded(each.request, each.contact_id, each.event)
                for each in self.accepted
                if each.request.send.is_shown_live
            ]
        await outbox.record_all(connection, self.events)
        return verdicts

    async def _lock(self, connection: Connection) -> None:
        ids = list({request.account_id for request in self.requests})
        rows = await fetch(connection, Sender, *self._how_to_lock(ids))
        self.accounts = {row.id: row for row in rows}
        self.balances = {row.id: row.balance for row in rows}
        asked = {request.send.condition for request in self.requests if request.send.condition}
        for check in {condition.check for condition in asked}:
            held = await check(connection, sorted(condition.id for condition in asked if condition.check is check))
            self.holding |= {Condition(check, id) for id in held}

    def _how_to_lock(self, ids: Sequence[int]) -> tuple[str, Sequence[int], str]:
        if self.waits:
            return accounts.LOCK, ids, LONG_PATIENCE
        return LOCK_TO_FLUSH_LATE if self.flushes_late else accounts.LOCK_FREE, ids, PATIENCE

    def _encode(self, request: SendRequest) -> SendRequest:
        account = self.accounts.get(request.account_id)
        return request.encoded(fold_accents=account.fold_accents) if account and account.smart_encoding else request

    def _read_phone(self, request: SendRequest) -> Phone:
        account = self.accounts.get(request.account_id)
        return facts.read_phone(request.send.to.strip(), account.region if account else None)

    def _find_limited(self, phones: Sequence[Phone]) -> Iterator[tuple[int, str]]:
        for request, to in zip(self.requests, phones, strict=True):
            if to.e164 and self._is_limited(request):
                yield request.account_id, to.e164

    def _is_limited(self, request: SendRequest) -> bool:
        account = self.accounts.get(request.account_id)
        return account is not None and is_limited(
            request.send.purpose, limits_transactional=account.limits_transactional
        )

    def _decide(self, request: SendRequest, to: Phone, row: RequestRow) -> Verdict | None:
        account = self.accounts.get(request.account_id)
        if account is None and not self.waits:
            return None
        balance = self.balances.get(request.account_id, 0)
        known = facts.of_send(request, account, to, row, balance, self.connections.max_segments(row.carrier))
        known.wait = self._wait(request, row)
        if to.e164 and self._is_limited(request):
            known.timing = self.limited.decide(request.account_id, to.e164, row.message_id, request.send.send_at)
            known.latest = self.limited.latest_of(request.send)
            known.waits_for_cap = request.send.waits_for_cap
        if refused := gates.find_refusal(gates.REQUEST_GATES, known):
            return refused[1]
        if row.fingerprint is not None:
            return _replay(request, row)
        if request.send.condition and request.send.condition not in self.holding:
            return request.send.condition.refusal or Conflict(reason="The condition of this send no longer holds.")
        if refused := gates.find_refusal(gates.TEXT_GATES, known):
            return self._refuse(request, known, *refused)
        return self._accept(request, known, row)

    def _wait(self, request: SendRequest, row: RequestRow) -> float:
        if not request.send.claim or row.phone_number is None:
            return 0
        return self.reservations.wait(row.phone_number, outgoing.lane_of(request.send.purpose))

    def _refuse(self, request: SendRequest, known: SendFacts, gate: Gate[SendFacts], error: DomainError) -> DomainError:
        if gate.is_audited:
            told = known.phone if known.contact_id else None
            blocked = SendBlocked(to_number=told or "", error_code=error.code, actor=request.actor.label)
            self.events.append(_recorded(request, known.contact_id, blocked))
        return error

    def _accept(self, request: SendRequest, known: SendFacts, row: RequestRow) -> Acceptance:
        assert known.phone
        self.balances[request.account_id] -= known.credits
        left = self.balances[request.account_id]
        cost = known.credits * self.accounts[request.account_id].rate
        claimed_until = self._claim(request, row)
        accepted = AcceptedSend(request, row, known.phone, known.credits, cost, left, claimed_until, known.wait)
        accepted.leaves_at = request.send.send_at
        if known.timing:
            taken = request.account_id, known.phone, row.message_id, known.timing
            accepted.leaves_at = self.limited.take(*taken, request.send.send_at)
            accepted.expires_at = self.limited.latest_of(request.send) or self.limited.latest
            accepted.deferred_until = known.timing.deferral.until if known.timing.deferral else None
        if claimed_until and row.phone_number:
            lane = outgoing.lane_of(request.send.purpose)
            self.reservations.reserve(row.phone_number, lane, request.parts.segments)
        if request.send.condition:
            self.holding.discard(request.send.condition)
        self.accepted.append(accepted)
        return accepted.acceptance

    def _claim(self, request: SendRequest, row: RequestRow) -> datetime | None:
        """Return the end of the claim that a send asks for; None where other processes call its carrier, or none do."""
        claim = request.send.claim
        return self.now + claim if claim and self.connections.is_sending(row.carrier or "") else None

    async def _write(self, connection: Connection) -> None:
        if keyed := [each for each in self.accepted if each.request.key]:
            await _keep_answers(connection, keyed)
        await self.reservations.write(connection)
        await self._add_contacts(connection)
        await self._open_conversations(connection)
        accepted, requests = self.accepted, [each.request for each in self.accepted]
        touched = sorted({request.account_id for request in requests})
        await connection.execute(
            WRITE,
            self.now,
            integers(touched),
            integers(self.balances[id] for id in touched),
            integers(each.row.message_id for each in accepted),
            integers(request.account_id for request in requests),
            integers(each.contact_id for each in accepted),
            integers(each.conversation_id for each in accepted),
            texts(each.row.phone_number for each in accepted),
            texts(each.to for each in accepted),
            texts(request.send.body for request in requests),
            texts(request.send.purpose.value for request in requests),
            integers(request.parts.segments for request in requests),
            texts(request.parts.encoding for request in requests),
            integers(each.credits for each in accepted),
            texts(str(each.cost) for each in accepted),
            texts(each.row.carrier for each in accepted),
            texts(request.actor.label for request in requests),
            texts(request.actor.request_id for request in requests),
            unless_all([request.send.original_body for request in requests], None),
            integers(each.balance_after for each in accepted),
            texts(request.attestation for request in requests),
            integers(outgoing.lane_of(request.send.purpose) for request in requests),
            unless_all([each.claimed_until for each in accepted], None),
            unless_all([each.leaves_at for each in accepted], None),
            unless_all([each.expires_at for each in accepted], None),
            unless_all([request.is_of_person for request in requests], usual=False),
            unless_all([each.opens_conversation for each in accepted], usual=False),
        )
        await self.limited.write(connection)
        await scheduling.write(connection, accepted)

    async def _add_contacts(self, connection: Connection) -> None:
        unknown = [each for each in self.accepted if each.row.contact_id is None]
        added: dict[tuple[int, str], AddedContact] = {}
        if unknown:
            wanted = [each.request.account_id for each in unknown], [each.to for each in unknown]
            rows = [AddedContact(*row) for row in await connection.fetch(contacts.ADD, *wanted)]
            late = await connection.fetch(OPT_OUT_SUPPRESSED, integers(row.id for row in rows if row.is_new))
            silent = {row["id"]: "opted_out" for row in late}
            added = {(row.account_id, row.phone): row._replace(status=silent.get(row.id, row.status)) for row in rows}
        for each in self.accepted:
            known = each.row.contact_id
            each.contact_id = added[each.request.account_id, each.to].id if known is None else known
        told: set[int] = set()
        for each in unknown:
            row = added[each.request.account_id, each.to]
            if row.is_new and row.id not in told:
                told.add(row.id)
                self.events.append(_recorded(each.request, row.id, _new_contact(row)))

    async def _open_conversations(self, connection: Connection) -> None:
        first = [each for each in self.accepted if each.row.conversation_id is None]
        opened: dict[int, OpenedConversation] = {}
        if first:
            accounts, people = [each.request.account_id for each in first], [each.contact_id for each in first]
            answers = [each.request.send.purpose is not Purpose.promotional for each in first]
            wanted = accounts, people, [each.row.phone_number for each in first], self.now, answers
            rows = itertools.starmap(OpenedConversation, await connection.fetch(conversations.OPEN, *wanted))
            opened = {row.contact_id: row for row in rows}
        for each in self.accepted:
            known = each.row.conversation_id
            each.conversation_id = opened[each.contact_id].id if known is None else known
        new = {row.contact_id for row in opened.values() if row.is_new}
        for each in first:
            each.opens_conversation = opened[each.contact_id].is_new
            if each.contact_id in new:
                new.discard(each.contact_id)
                self.events.append(_recorded(each.request, each.contact_id, self._new_conversation(each)))

    def _new_conversation(self, accepted: AcceptedSend) -> NewConversation:
        assert accepted.row.phone_number
        return NewConversation(
            conversation_id=accepted.conversation_id,
            contact_id=accepted.contact_id,
            first_name=accepted.row.first_name or "",
            last_name=accepted.row.last_name or "",
            phone=accepted.to,
            email=accepted.row.email or "",
            first_message=accepted.request.send.body,
            from_number=accepted.row.phone_number,
            to_number=accepted.to,
            started_at=timestamp(self.now),
        )


def _recorded(request: SendRequest, contact_id: int | None, event: Event) -> Recorded:
    return Recorded(request.account_id, event, contact_id, request.actor.request_id)


def _find_claimed(requests: Sequence[SendRequest], rows: Sequence[RequestRow]) -> Iterator[Wanted]:
    """Return the numbers of the sends that their callers hand off themselves."""
    for request, row in zip(requests, rows, strict=True):
        if request.send.claim and row.phone_number and row.carrier:
            yield Wanted(row.phone_number, row.carrier, outgoing.lane_of(request.send.purpose))


def _replay(request: SendRequest, row: RequestRow) -> Verdict:
    assert request.key
    assert row.fingerprint is not None
    assert row.answer is not None
    try:
        answer = idempotency.replay(request.key, row.fingerprint, request.fingerprint, row.answer)
    except DomainError as refusal:
        return refusal
    return Acceptance(**answer, replayed=True)


def _new_contact(row: AddedContact) -> NewContact:
    return NewContact(
        id=row.id,
        first_name="",
        last_name="",
        phone=row.phone,
        email="",
        tags=[],
        pipeline_stage=row.pipeline_stage,
        source=row.source,
        status=row.status,
        created_at=timestamp(row.created_at),
    )


ANSWER = ("message_id", "segments", "status", "credits_remaining")
"""The fields of an acceptance that are answered again."""


async def _keep_answers(connection: Connection, accepted: Sequence[AcceptedSend]) -> None:
    answers = [{name: getattr(each.acceptance, name) for name in ANSWER} for each in accepted]
    kept = await connection.execute(
        kernel.INSERT_ANSWERS,
        [each.request.account_id for each in accepted],
        [each.request.key for each in accepted],
        [each.request.fingerprint for each in accepted],
        answers,
    )
    if kept != f"INSERT 0 {len(accepted)}":
        raise KeyTaken
