"""Accept many promotional texts of an account in two statements: one writes them, one debits them.

They are written from rows of the caller, who reads `find_facts` of each. What is the same for all texts is passed once,
and what differs only for some is passed for these. A text that a gate may refuse is left to `acceptance`. Only the
debit needs the lock of the account.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from app.db.engine import Connection
from app.domain.accounts import sql as accounts
from app.domain.billing import sql as billing
from app.domain.consent import sql as consent
from app.domain.contacts import sql as contacts
from app.domain.conversations import sql as conversations
from app.domain.conversations.events import NewConversation
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.kernel.events import timestamp
from app.domain.messages import outgoing
from app.domain.messages.eligibility import limited
from app.domain.messages.eligibility.facts import Sender
from app.domain.messages.eligibility.limited import AccountTimings, Attempts
from app.domain.messages.models import Attestation, Purpose
from app.domain.quiet_hours import sql as quiet_hours
from app.domain.quiet_hours.limits import LONGEST, Timing

LANE = outgoing.lane_of(Purpose.promotional)


class BulkFacts(NamedTuple):
    """The facts about a text that is to be accepted, as `find_facts` returns them; `message_id` is the id it gets.

    It `is_free` if neither the phone nor the contact is marked with anything that a gate refuses. `usual_number` is the
    number of the contact's conversation. Without one, the text opens that of `conversation_id` with the `person`, whose
    names and e-mail address it has.
    """

    message_id: int
    conversation_id: int
    usual_number: str | None
    person: list[str | None] | None
    contact_zone: str | None
    attempts: Attempts | None
    is_free: bool


def find_facts(account_id: str, contact_id: str, phone: str) -> str:
    """Return the subquery of the `BulkFacts` about a text to a contact with a phone, which is looked up by indexes."""
    suppressed = consent.is_suppressed(account_id, "own.phone")
    attempts = quiet_hours.attempts(account_id, "own.phone", str(limited.NO_MESSAGE))
    return f"""(
  SELECT nextval('messages_id_seq') AS message_id,
    coalesce({conversations.ID}, {conversations.NEW_ID}) AS conversation_id,
    {conversations.SENDING_NUMBER} AS usual_number,
    CASE WHEN {conversations.ID} IS NULL THEN ARRAY[{contacts.PERSON}] END AS person, {contacts.ZONE},
    {attempts} AS attempts, (
      c.id = {contact_id} AND {contacts.SENDABLE} AND {contacts.IS_REACHED} AND NOT {suppressed}) IS TRUE AS is_free
  FROM (SELECT {phone} AS phone) AS own {contacts.join_by_phone(account_id, "own.phone")} {conversations.join("c.id")}
  OFFSET 0
)"""


def columns(facts: str) -> str:
    """Return the columns of the `BulkFacts` in a subquery."""
    return ", ".join(f"{facts}.{name}" for name in BulkFacts._fields)


COMMON = """
  SELECT texts.*, $1::bigint AS account_id, $2::text AS actor, $3::timestamptz AS now,
    coalesce(leaves_at, $3) AS due_at
  FROM ({texts}) AS texts WHERE (NOT {is_suppressed}) IS TRUE
"""
ATTESTATIONS = (
    f"SELECT account_id, phone, '{Attestation.campaign}' AS method, message_id, actor, now AS at FROM accepted"
)
QUEUED = f"""
  SELECT message_id, account_id, {LANE} AS lane, number, carrier, segments, due_at, NULL::timestamptz AS claimed_until,
    $4::timestamptz AS expires_at FROM accepted
"""
OPENED = "SELECT conversation_id AS id, account_id, contact_id, number AS sending_number FROM accepted WHERE is_first"
PROMOTED = "SELECT conversation_id AS id, number AS sending_number FROM accepted WHERE NOT is_first"


def write(texts: str, then: str) -> str:
    """Return the statement that writes texts, and returns the number of rows of `then`, and the sum of their credits.

    Texts are rows of `message_id, contact_id, conversation_id, phone, body, original_body, segments, credits, encoding,
    number, carrier, leaves_at, is_first`, at most one to a contact; one that `is_first` opens the conversation. Those
    to phones that were suppressed after the facts were read are left out. `then` is a statement on `accepted`, the
    texts that are written, and returns `credits`. The arguments up to `$5` are those of `BulkAcceptance.arguments`.
    """
    return f"""
WITH accepted AS MATERIALIZED ({COMMON.format(texts=texts, is_suppressed=consent.is_suppressed("$1", "texts.phone"))}),
sent AS (
  INSERT INTO messages (id, account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    purpose, segments, encoding, credits, cost, carrier, actor, original_body, created_at)
  SELECT message_id, account_id, contact_id, conversation_id, 'outbound', number, phone, body, 'pending',
    '{Purpose.promotional}', segments, encoding, credits, credits * $5::numeric, carrier, actor, original_body, now
  FROM accepted
), opened AS ({conversations.open_promoted(OPENED, "$3")}), touched AS ({conversations.promote(PROMOTED, "$3")}),
queued AS ({outgoing.INSERT.format(rows=QUEUED)}), attested AS ({consent.record_attestations(ATTESTATIONS)}),
counted AS ({quiet_hours.count("SELECT message_id, account_id, phone, due_at AS at FROM accepted")}),
concluded AS ({then})
SELECT count(*) AS texts, coalesce(sum(credits), 0)::bigint AS credits FROM concluded
"""


DEBIT = f"""
WITH sent AS MATERIALIZED (
  SELECT $1::bigint AS account_id, $2::text AS actor, $3::timestamptz AS created_at, message_id, credits,
    $4::bigint - sum(credits) OVER (ORDER BY place) AS balance_after
  FROM unnest($5::bigint[], $6::bigint[]) WITH ORDINALITY AS sent(message_id, credits, place)
), debited AS ({billing.debit_messages("SELECT * FROM sent")})
{accounts.SET_BALANCES.format(rows="(SELECT $1::bigint, $4::bigint - sum(credits)::bigint FROM sent)")}
"""


class Opening(NamedTuple):
    """The first text to a contact."""

    contact_id: int
    phone: str
    number: str
    body: str
    facts: BulkFacts


@dataclass(frozen=True, slots=True)
class BulkAcceptance:
    """Decides on texts of an account, which may send. `max_segments` are the most SMS parts, by connection.

    Texts may wait for quiet hours, and not for a cap.
    """

    now: datetime
    max_segments: Mapping[str, int]
    timings: AccountTimings

    @classmethod
    async def of(
        cls, connection: Connection, account_id: int, now: datetime, max_segments: Mapping[str, int]
    ) -> "BulkAcceptance":
        """Read the facts about the account that decide when its texts leave."""
        return cls(now, max_segments, await AccountTimings.read(connection, account_id, now))

    @property
    def latest(self) -> datetime:
        """Return the time after which no text leaves."""
        return self.now + LONGEST

    def arguments(self, account: Sender, actor: str) -> tuple[object, ...]:
        """Return the first arguments of `write` for texts of an account."""
        return account.id, actor, self.now, self.latest, account.rate

    async def debit(
        self, connection: Connection, account: Sender, actor: str, ids: Sequence[int], credits: Sequence[int]
    ) -> None:
        """Debit messages of an account, whose row is locked and whose balance pays for them."""
        await connection.execute(DEBIT, account.id, actor, self.now, account.balance, ids, credits)

    def decide(self, phone: str, segments: int, carrier: str, facts: BulkFacts) -> Timing | None:
        """Return when a text leaves; None where `acceptance` has to decide on it."""
        if not facts.is_free or segments > self.max_segments[carrier]:
            return None
        timing = self.timings.decide(phone, facts.contact_zone, facts.attempts, facts.message_id)
        return None if timing.is_capped or timing.is_beyond(self.latest) else timing

    async def record(self, connection: Connection, account_id: int, opened: Sequence[Opening]) -> None:
        """Record the events of the conversations that texts opened."""
        events = [self._event(each) for each in opened]
        await outbox.record_all(connection, [Recorded(account_id, event, event.contact_id) for event in events])

    def _event(self, opening: Opening) -> NewConversation:
        first_name, last_name, email = opening.facts.person or (None, None, None)
        return NewConversation(
            conversation_id=opening.facts.conversation_id,
            contact_id=opening.contact_id,
            first_name=first_name or "",
            last_name=last_name or "",
            phone=opening.phone,
            email=email or "",
            first_message=opening.body,
            from_number=opening.number,
            to_number=opening.phone,
            started_at=timestamp(self.now),
        )

    async def show(self, connection: Connection, accepted: Iterable[tuple[int, Timing]]) -> None:
        """Show the deferrals of the accepted messages that wait for quiet hours."""
        waiting = [(id, each.deferral, each.place.zones) for id, each in accepted if each.deferral]
        await limited.show(connection, waiting)
