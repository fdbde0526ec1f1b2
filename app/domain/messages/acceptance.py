"""Deciding on a batch of sends: the gates that need the database, and every statement of the accepting transaction.

The statements are SQL text on asyncpg because this is the path that every send takes. All of them stand here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from app.db.engine import Connection
from app.domain.accounts.errors import AccountDeleted, AccountDeletionPending, AccountSuspended
from app.domain.accounts.models import AccountStatus
from app.domain.billing import prices
from app.domain.billing.service import InsufficientCredits
from app.domain.consent.errors import ContactHeld, ContactOptedOut
from app.domain.contacts.errors import ContactDnd
from app.domain.contacts.events import NewContact
from app.domain.contacts.models import ContactStatus
from app.domain.conversations.events import NewConversation
from app.domain.kernel import idempotency, phone
from app.domain.kernel.errors import Conflict, DomainError, NotFound
from app.domain.kernel.events import Event, timestamp
from app.domain.messages.errors import NoSender
from app.domain.messages.events import SendBlocked
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Acceptance, Condition, SendRequest

LOCK_ACCOUNTS = """
SELECT id, balance, rate, region, status, deletion_at FROM accounts, set_config('lock_timeout', $2, true)
WHERE id = ANY($1::bigint[]) ORDER BY id FOR NO KEY UPDATE OF accounts
"""
LOCK_FREE_ACCOUNTS = f"{LOCK_ACCOUNTS} SKIP LOCKED"
PATIENCE, LONG_PATIENCE = "200ms", "5s"
"""How long a statement waits for a lock; set in the statement that comes first, so that it costs no round trip."""

FIND_FACTS = """
SELECT nextval('messages_id_seq') AS message_id,
  c.id AS contact_id, c.status, c.dnd_sms, c.held_until, c.first_name, c.last_name, c.email,
  EXISTS (SELECT FROM suppressions s WHERE s.account_id = r.account_id AND s.phone = r.phone
    AND s.scope_type = 'account') AS suppressed,
  n.phone_number, n.carrier, k.fingerprint, k.answer
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[]) WITH ORDINALITY
  AS r(account_id, phone, number_id, key, place)
LEFT JOIN contacts c ON c.account_id = r.account_id AND c.phone = r.phone
LEFT JOIN LATERAL (SELECT phone_number, carrier FROM phone_numbers p
  WHERE p.account_id = r.account_id AND p.status = 'active' AND p.id = coalesce(r.number_id, p.id)
  ORDER BY p.is_primary DESC, p.id LIMIT 1) n ON true
LEFT JOIN idempotency_keys k ON k.account_id = r.account_id AND k.key = r.key
ORDER BY r.place
"""

ADD_CONTACTS = """
INSERT INTO contacts (account_id, phone, source)
SELECT DISTINCT account_id, phone, 'api' FROM unnest($1::bigint[], $2::text[]) AS r(account_id, phone)
ORDER BY account_id, phone
ON CONFLICT (account_id, phone) DO UPDATE SET phone = excluded.phone
RETURNING id, account_id, phone, pipeline_stage, source, status, created_at, xmax = 0 AS is_new
"""

TOUCH_CONVERSATIONS = """
INSERT INTO conversations (account_id, contact_id, last_message_at, created_at)
SELECT DISTINCT account_id, contact_id, $3::timestamptz, $3::timestamptz
FROM unnest($1::bigint[], $2::bigint[]) AS r(account_id, contact_id) ORDER BY account_id, contact_id
ON CONFLICT (contact_id) DO UPDATE SET last_message_at = excluded.last_message_at
RETURNING id, contact_id, xmax = 0 AS is_new
"""

WRITE = """
WITH sent AS (
  INSERT INTO messages (id, account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    purpose, segments, encoding, credits, cost, carrier, actor, request_id, due_at, created_at, claimed_until, attempts)
  SELECT id, account_id, contact_id, conversation_id, 'outbound', from_number, to_number, body, 'pending',
    purpose, segments, encoding, credits, cost, carrier, actor, request_id, $19, $19, claimed_until,
    CASE WHEN claimed_until IS NULL THEN 0 ELSE 1 END
  FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::bigint[], $10::text[], $11::bigint[], $12::numeric[], $13::text[], $14::text[], $15::text[], $21::timestamptz[])
    AS m(id, account_id, contact_id, conversation_id, from_number, to_number, body, purpose, segments, encoding,
      credits, cost, carrier, actor, request_id, claimed_until)
), debited AS (
  INSERT INTO ledger_entries (account_id, type, amount, balance_after, message_id, description, actor, created_at)
  SELECT account_id, 'debit', -credits, balance_after, id, 'Message ' || id, actor, $19
  FROM unnest($1::bigint[], $2::bigint[], $11::bigint[], $16::bigint[], $14::text[])
    AS l(id, account_id, credits, balance_after, actor)
), attested AS (
  INSERT INTO consents (account_id, phone, kind, method, message_id, actor, recorded_at)
  SELECT account_id, to_number, 'attested', method, id, actor, $19
  FROM unnest($1::bigint[], $2::bigint[], $6::text[], $14::text[], $20::text[])
    AS c(id, account_id, to_number, actor, method) WHERE method IS NOT NULL
)
UPDATE accounts SET balance = b.balance FROM unnest($17::bigint[], $18::bigint[]) AS b(id, balance)
WHERE accounts.id = b.id
"""

KEEP_ANSWERS = """
INSERT INTO idempotency_keys (account_id, key, fingerprint, answer)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::jsonb[]) ON CONFLICT DO NOTHING
"""

TELL = """
INSERT INTO events (account_id, name, contact_id, payload, request_id)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::json[], $5::text[])
"""


@dataclass(slots=True)
class Draft:
    """A send that passed the gates, on its way into the tables."""

    request: SendRequest
    facts: Any
    to: str
    credits: int
    cost: Decimal
    balance_after: int
    claimed_until: datetime | None = None
    contact_id: int = 0
    conversation_id: int = 0

    @property
    def acceptance(self) -> Acceptance:
        """Return the answer to the sender."""
        return Acceptance(
            self.facts["message_id"],
            self.request.parts.segments,
            "pending",
            self.balance_after,
            claimed_until=self.claimed_until,
        )


Verdict = Acceptance | DomainError


class KeyTaken(Exception):
    """Another request has got a key in the meantime. Decided on once more, in a new transaction, its answer is seen."""


@dataclass(slots=True)
class Batch:
    """Sends that are decided on in one transaction; each gets a verdict of its own.

    Everybody locks in the order account, idempotency key, contact. Unless the batch `waits`, what belongs to an account
    that another transaction holds gets no verdict.
    """

    requests: Sequence[SendRequest]
    now: datetime
    waits: bool = False
    accounts: dict[int, Any] = field(default_factory=dict[int, Any])
    balances: dict[int, int] = field(default_factory=dict[int, int])
    holding: set[Condition] = field(default_factory=set[Condition])
    drafts: list[Draft] = field(default_factory=list[Draft])
    events: list[tuple[SendRequest, int | None, Event]] = field(
        default_factory=list[tuple[SendRequest, int | None, Event]]
    )

    async def decide(self, connection: Connection) -> list[Verdict | None]:
        """Accept or refuse every send, in their order, on a connection with a transaction open; raise `KeyTaken`."""
        await self._lock(connection)
        if not self.accounts and not self.waits:
            return [None] * len(self.requests)
        phones = [self._recipient(request) for request in self.requests]
        facts = await connection.fetch(
            FIND_FACTS,
            [request.account_id for request in self.requests],
            [found if isinstance(found, str) else "" for found in phones],
            [request.number_id for request in self.requests],
            [request.key for request in self.requests],
        )
        verdicts = [self._decide(*each) for each in zip(self.requests, phones, facts, strict=True)]
        if self.drafts:
            await self._write(connection)
        if self.events:
            await self._tell(connection)
        return verdicts

    async def _lock(self, connection: Connection) -> None:
        ids = list({request.account_id for request in self.requests})
        how = (LOCK_ACCOUNTS, LONG_PATIENCE) if self.waits else (LOCK_FREE_ACCOUNTS, PATIENCE)
        rows = await connection.fetch(how[0], ids, how[1])
        self.accounts = {row["id"]: row for row in rows}
        self.balances = {row["id"]: row["balance"] for row in rows}
        asked = {request.condition for request in self.requests if request.condition}
        for check in {condition.check for condition in asked}:
            held = await check(connection, sorted(condition.id for condition in asked if condition.check is check))
            self.holding |= {Condition(check, id) for id in held}

    def _recipient(self, request: SendRequest) -> str | DomainError:
        account = self.accounts.get(request.account_id)
        if account is None or account["status"] != AccountStatus.active:
            return AccountDeleted() if account and account["status"] == AccountStatus.deleted else AccountSuspended()
        if request.to.startswith("+"):
            return request.to
        try:
            return phone.require_recipient(request.to, account["region"])
        except DomainError as refusal:
            return refusal

    def _decide(self, request: SendRequest, to: str | DomainError, facts: Any) -> Verdict | None:
        if request.account_id not in self.accounts and not self.waits:
            return None
        if isinstance(to, DomainError):
            return to
        if facts["fingerprint"] is not None:
            return _replay(request, facts)
        account = self.accounts[request.account_id]
        if refusal := self._ended(request, account["deletion_at"]):
            return refusal
        credits = request.parts.segments * prices.credits_per_segment(to, account["region"])
        if refusal := _blocked(request, to, facts) or self._unaffordable(request, credits):
            told = to if facts["contact_id"] else ""
            blocked = SendBlocked(to_number=told, error_code=refusal.code, actor=request.actor)
            self.events.append((request, facts["contact_id"], blocked))
            return refusal
        self.balances[request.account_id] -= credits
        left = self.balances[request.account_id]
        claimed_until = self.now + request.claim if request.claim else None
        draft = Draft(request, facts, to, credits, credits * account["rate"], left, claimed_until)
        self.drafts.append(draft)
        return draft.acceptance

    def _ended(self, request: SendRequest, deletion_at: datetime | None) -> DomainError | None:
        if deletion_at:
            return AccountDeletionPending(at=timestamp(deletion_at))
        if request.condition and request.condition not in self.holding:
            return Conflict(reason="What this text belongs to has changed in the meantime.")
        return None

    def _unaffordable(self, request: SendRequest, credits: int) -> DomainError | None:
        balance = self.balances[request.account_id]
        return InsufficientCredits(needed=credits, balance=balance) if credits > balance else None

    async def _write(self, connection: Connection) -> None:
        if keyed := [draft for draft in self.drafts if draft.request.key]:
            await _keep_answers(connection, keyed)
        await self._add_contacts(connection)
        await self._touch_conversations(connection)
        drafts, requests = self.drafts, [draft.request for draft in self.drafts]
        touched = sorted({request.account_id for request in requests})
        await connection.execute(
            WRITE,
            [draft.facts["message_id"] for draft in drafts],
            [request.account_id for request in requests],
            [draft.contact_id for draft in drafts],
            [draft.conversation_id for draft in drafts],
            [draft.facts["phone_number"] for draft in drafts],
            [draft.to for draft in drafts],
            [request.body for request in requests],
            [request.purpose.value for request in requests],
            [request.parts.segments for request in requests],
            [request.parts.encoding for request in requests],
            [draft.credits for draft in drafts],
            [draft.cost for draft in drafts],
            [draft.facts["carrier"] for draft in drafts],
            [request.actor for request in requests],
            [request.request_id for request in requests],
            [draft.balance_after for draft in drafts],
            touched,
            [self.balances[id] for id in touched],
            self.now,
            [request.attestation for request in requests],
            [draft.claimed_until for draft in drafts],
        )

    async def _add_contacts(self, connection: Connection) -> None:
        unknown = [draft for draft in self.drafts if draft.facts["contact_id"] is None]
        added: dict[tuple[int, str], Any] = {}
        if unknown:
            wanted = [draft.request.account_id for draft in unknown], [draft.to for draft in unknown]
            added = {(row["account_id"], row["phone"]): row for row in await connection.fetch(ADD_CONTACTS, *wanted)}
        for draft in self.drafts:
            row = added.get((draft.request.account_id, draft.to))
            draft.contact_id = row["id"] if row else draft.facts["contact_id"]
        told: set[int] = set()
        for draft in unknown:
            row = added[draft.request.account_id, draft.to]
            if row["is_new"] and row["id"] not in told:
                told.add(row["id"])
                self.events.append((draft.request, row["id"], _new_contact(row)))

    async def _touch_conversations(self, connection: Connection) -> None:
        wanted = [draft.request.account_id for draft in self.drafts], [draft.contact_id for draft in self.drafts]
        rows = {row["contact_id"]: row for row in await connection.fetch(TOUCH_CONVERSATIONS, *wanted, self.now)}
        new = {contact_id for contact_id, row in rows.items() if row["is_new"]}
        for draft in self.drafts:
            draft.conversation_id = rows[draft.contact_id]["id"]
            if draft.contact_id in new:
                new.discard(draft.contact_id)
                self.events.append((draft.request, draft.contact_id, self._new_conversation(draft)))

    def _new_conversation(self, draft: Draft) -> NewConversation:
        return NewConversation(
            conversation_id=draft.conversation_id,
            contact_id=draft.contact_id,
            first_name=draft.facts["first_name"] or "",
            last_name=draft.facts["last_name"] or "",
            phone=draft.to,
            email=draft.facts["email"] or "",
            first_message=draft.request.body,
            from_number=draft.facts["phone_number"],
            to_number=draft.to,
            started_at=timestamp(self.now),
        )

    async def _tell(self, connection: Connection) -> None:
        await connection.execute(
            TELL,
            [request.account_id for request, _, _ in self.events],
            [event.name for _, _, event in self.events],
            [contact_id for _, contact_id, _ in self.events],
            [event.payload() for _, _, event in self.events],
            [request.request_id for request, _, _ in self.events],
        )


def _blocked(request: SendRequest, to: str, facts: Any) -> DomainError | None:
    """Return what stands against a send beside its price."""
    if request.contact_id not in (None, facts["contact_id"]):
        return NotFound(kind="contact", id=request.contact_id)
    if facts["suppressed"] or facts["status"] == ContactStatus.opted_out:
        return ContactOptedOut(phone=to)
    if facts["dnd_sms"]:
        return ContactDnd(phone=to)
    if facts["held_until"] and request.purpose is not Purpose.conversational:
        return ContactHeld(phone=to)
    if facts["phone_number"] is None:
        return NotFound(kind="active phone number", id=request.number_id) if request.number_id else NoSender()
    return None


def _replay(request: SendRequest, facts: Any) -> Verdict:
    assert request.key
    try:
        answer = idempotency.replay(request.key, facts["fingerprint"], request.fingerprint, facts["answer"])
    except DomainError as refusal:
        return refusal
    return Acceptance(**answer, replayed=True)


def _new_contact(row: Any) -> NewContact:
    return NewContact(
        id=row["id"],
        first_name="",
        last_name="",
        phone=row["phone"],
        email="",
        tags=[],
        pipeline_stage=row["pipeline_stage"],
        source=row["source"],
        status=row["status"],
        created_at=timestamp(row["created_at"]),
    )


async def _keep_answers(connection: Connection, drafts: Sequence[Draft]) -> None:
    answers = [
        {
            "message_id": draft.acceptance.message_id,
            "segments": draft.acceptance.segments,
            "status": draft.acceptance.status,
            "credits_remaining": draft.acceptance.credits_remaining,
        }
        for draft in drafts
    ]
    kept = await connection.execute(
        KEEP_ANSWERS,
        [draft.request.account_id for draft in drafts],
        [draft.request.key for draft in drafts],
        [draft.request.fingerprint for draft in drafts],
        answers,
    )
    if kept != f"INSERT 0 {len(drafts)}":
        raise KeyTaken
