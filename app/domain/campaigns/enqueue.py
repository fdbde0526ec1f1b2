"""Accept the texts of a campaign in batches: one balance update a batch, one ledger entry a text.

A batch is one transaction: its recipients are claimed, its messages debited and queued, or nothing is. A worker that
dies repeats nothing, and no phone gets two texts. `accept_locked` locks the account first, and so accepts any batch;
`concurrency` accepts full ones side by side.
"""

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from app.db.engine import UNSTORABLE, Connection, violates
from app.db.rows import find
from app.domain.accounts import sql as accounts
from app.domain.accounts.models import AccountStatus
from app.domain.campaigns import batches, senders
from app.domain.campaigns.batches import Batch, Free, Source
from app.domain.campaigns.models import PauseReason, RecipientState
from app.domain.campaigns.reasons import DEFERRED, Reason, reason_of
from app.domain.campaigns.rows import Attester, Waiting
from app.domain.campaigns.senders import Sender
from app.domain.conversations import sql as conversations
from app.domain.kernel import sms_parts
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility import facts
from app.domain.messages.models import Attestation, Purpose
from app.domain.messages.requests import Acceptance, Send
from app.domain.messages.sending import bulk
from app.domain.messages.sending.acceptance import Verdict
from app.domain.messages.sending.bulk import Opening

WINDOW = 1000
"""The number of texts of a campaign that wait for their carriers at most, without those that are deferred."""

PATIENCE = "5s"

# A pause or a cancellation waits for the batches under way.
FIND_ATTESTER = "SELECT actor, attested_at FROM campaigns WHERE id = $1 AND status = 'sending' AND is_read FOR SHARE"
# The ids stand twice, so that they are looked up in the key: a plan of a time with few recipients would else read all
# that wait, for each batch.
DECIDE = """
UPDATE campaign_recipients r SET state = d.state, reason = d.reason, message_id = d.message_id, number = d.number,
  body = '', original_body = NULL, due_at = NULL, segments = d.segments, credits = d.credits,
  settled_at = CASE d.state WHEN 'suppressed' THEN $8::timestamptz END
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[])
  AS d(id, state, reason, message_id, number, segments, credits)
WHERE r.campaign_id = $9 AND r.id = ANY($1::bigint[]) AND r.id = d.id AND (r.state IN ('queued', 'deferred')) IS TRUE
"""
# `OFFSET 0` makes each recipient a look-up in the key: PostgreSQL keeps a plan of a time with few recipients, which
# would compare each text with each recipient of the batch. Of a campaign that is newer than the statistics it expects
# one recipient, and would find each by all those of the campaign: the `SELECT` keeps its id from the planner.
TEXTS = """
SELECT r.place_of_row, d.message_id, d.conversation_id, r.contact_id, r.phone, r.body, r.original_body,
  r.segments, r.credits,
  coalesce(d.encoding, 'GSM-7') AS encoding, ($12::text[])[coalesce(d.sender, 1)] AS number,
  ($13::text[])[coalesce(d.sender, 1)] AS carrier, d.leaves_at, coalesce(d.is_first, false) AS is_first
FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::int[], $11::timestamptz[], $14::bool[])
  AS d(id, message_id, conversation_id, encoding, sender, leaves_at, is_first)
CROSS JOIN LATERAL (
  SELECT ctid AS place_of_row, * FROM campaign_recipients WHERE campaign_id = (SELECT $15::bigint) AND id = d.id
    AND (state IN ('queued', 'deferred')) IS TRUE OFFSET 0
) r
"""
# The rows are found where they were read. One that was changed since is not: the batch is then rolled back.
CLAIM = f"""
UPDATE campaign_recipients r SET state = 'claimed', message_id = a.message_id, number = a.number,
  reason = CASE WHEN a.leaves_at IS NULL THEN '' ELSE '{DEFERRED}' END, body = '', original_body = NULL, due_at = NULL
FROM accepted a WHERE r.ctid = a.place_of_row RETURNING r.credits
"""
WRITE = bulk.write(TEXTS, CLAIM)
MEANWHILE = ("fk_messages_contact_id_contacts", "fk_conversations_contact_id_contacts", conversations.ONE_TO_A_CONTACT)
"""The constraints that a change of contacts after their batch was read may violate."""


class RecipientsChanged(Exception):
    """Recipients of a batch were changed or suppressed after it was read; it is to be rolled back and read again."""


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The result of a batch: how many recipients it decided about, and the reason to pause the campaign, if any."""

    decided: int
    stops: PauseReason | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The result for a recipient: its text was accepted, or the recipient is suppressed."""

    id: int
    state: RecipientState
    reason: str = ""
    message_id: int | None = None
    number: str = ""
    segments: int = 0
    credits: int = 0


async def accept_locked(
    connection: Connection, acceptor: SendAcceptor, source: Source, room: int, now: datetime
) -> Enqueued:
    """Accept the texts of the next recipients, at most `room`, in the caller's transaction; see `SendAcceptor`."""
    account = await lock_account(connection, source.account_id, PATIENCE)
    attester = await find(connection, Attester, FIND_ATTESTER, source.campaign_id)
    if attester is None:
        return Enqueued(0)
    if is_closed(account):
        return Enqueued(0, PauseReason.account)
    if not await senders.may_send(connection, source.account_id, attester, now):
        return Enqueued(0, PauseReason.credential_ended)
    found = await batches.read(connection, acceptor, source, min(batches.BATCH, room), now)
    if not found.has_numbers:
        return Enqueued(0, PauseReason.no_sending_number)
    batch = found.afford(account.balance)
    if found.texts and not batch.texts:
        return Enqueued(0, PauseReason.insufficient_credits)
    await write(connection, account, source.campaign_id, batch)
    await debit(connection, acceptor, account, source.campaign_id, batch)
    return Enqueued(len(batch.texts))


async def lock_account(connection: Connection, account_id: int, patience: str) -> facts.Sender:
    """Lock the account of a campaign, and wait at most `patience` for this and each later lock."""
    return facts.Sender(*await connection.fetchrow(accounts.LOCK, [account_id], patience))


def is_closed(account: facts.Sender) -> bool:
    """Return whether an account may not send, or is about to be deleted."""
    return account.status != AccountStatus.active or account.deletion_at is not None


async def write(connection: Connection, account: facts.Sender, campaign_id: int, batch: Batch) -> None:
    """Write the texts of a batch that no gate refuses, in one statement; the account need not be locked yet.

    Raise `RecipientsChanged` if recipients or their contacts are not as they were read.
    """
    if not batch.free:
        return
    given = batch.acceptance.arguments(account, _actor(campaign_id))
    with _noticing_changes():
        written = await connection.fetchrow(WRITE, *given, *batch.columns, campaign_id)
    if tuple(written) != (len(batch.free), sum(batch.free_credits)):
        raise RecipientsChanged
    await batch.acceptance.record(connection, account.id, [*_openings(batch.free)])
    deferred = ((each.facts.message_id, timing) for each, _, timing in batch.free)
    await batch.acceptance.show(connection, deferred)


async def debit(
    connection: Connection, acceptor: SendAcceptor, account: facts.Sender, campaign_id: int, batch: Batch
) -> None:
    """Debit the texts of a batch that are written, and decide on the others one by one; the account is locked."""
    if batch.free:
        ids = [each.recipient.facts.message_id for each in batch.free]
        await batch.acceptance.debit(connection, account, _actor(campaign_id), ids, batch.free_credits)
    if others := [(each, sender) for each, sender, timing in batch.texts if timing is None]:
        actor = Actor(account.id, frozenset(), _actor(campaign_id))
        with _noticing_changes():
            await _accept_others(connection, acceptor, actor, campaign_id, others, batch.acceptance.now)


@contextmanager
def _noticing_changes() -> Generator[None]:
    try:
        yield
    except UNSTORABLE as fault:
        if violates(fault, *MEANWHILE):
            raise RecipientsChanged from fault
        raise


def _actor(campaign_id: int) -> str:
    return f"campaign:{campaign_id}"


def _openings(texts: Iterable[Free]) -> Iterator[Opening]:
    for each, sender, _ in texts:
        if each.facts.person is not None:
            yield Opening(each.contact_id, each.phone, sender.phone_number, each.body, each.facts)


async def _accept_others(
    connection: Connection,
    acceptor: SendAcceptor,
    actor: Actor,
    campaign_id: int,
    texts: Sequence[tuple[Waiting, Sender]],
    now: datetime,
) -> None:
    sends = [(_send(each, sender), sms_parts.count(each.body)) for each, sender in texts]
    verdicts = await acceptor.accept_all(connection, actor, sends)
    decisions = [_decide(each, sender, verdict) for (each, sender), verdict in zip(texts, verdicts, strict=True)]
    await _decide_all(connection, campaign_id, decisions, now)


def _send(waiting: Waiting, sender: Sender) -> Send:
    return Send(
        to=waiting.phone,
        body=waiting.body,
        consent_attested=True,
        from_phone_number_id=sender.id,
        purpose=Purpose.promotional,
        attestation=Attestation.campaign,
        contact_id=waiting.contact_id,
        waits_for_cap=False,
        has_encoded=True,
        original_body=waiting.original_body,
    )


def _decide(waiting: Waiting, sender: Sender, verdict: Verdict) -> Decision:
    if isinstance(verdict, Acceptance):
        state, text = RecipientState.claimed, (verdict.message_id, sender.phone_number)
        reason = DEFERRED if verdict.deferred_until else ""
        return Decision(waiting.id, state, reason, *text, waiting.segments, waiting.credits)
    return Decision(waiting.id, RecipientState.suppressed, str(reason_of(verdict.code) or Reason.contact_changed))


async def _decide_all(connection: Connection, campaign_id: int, decisions: Sequence[Decision], now: datetime) -> None:
    if decisions:
        decided = await connection.execute(
            DECIDE,
            [each.id for each in decisions],
            [each.state for each in decisions],
            [each.reason for each in decisions],
            [each.message_id for each in decisions],
            [each.number for each in decisions],
            [each.segments for each in decisions],
            [each.credits for each in decisions],
            now,
            campaign_id,
        )
        if decided != f"UPDATE {len(decisions)}":
            raise RecipientsChanged
