"""Adds the notices that events cause, and marks those as read whose conversation was read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.domain.accounts import sql as accounts
from app.domain.agents import sql as agents
from app.domain.agents.events import AgentState
from app.domain.billing.events import LowBalance
from app.domain.consent.recognition import NOTHING, IntentKind
from app.domain.conversations import sql as conversations
from app.domain.conversations.events import ConversationChanged
from app.domain.conversations.models import AiState
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.messages import intents
from app.domain.messages.events import NewMessage
from app.domain.notices.events import NoticesAdded, NoticesRead, OwnersNotified
from app.domain.notices.models import OF_OWNERS, NoticeKind
from app.domain.notices.settings import MAILED

TOPIC = "notices"

MAIL_AFTER = timedelta(minutes=5)
"""The time in which a user can read a notice about a conversation before it is mailed."""

LOW_BALANCE: str = (
    "The balance is {balance:,} credits, below the {threshold:,} at which you asked to be warned. Texts are refused "
    "once the credits are spent. Add credits to go on sending; this notice is not repeated until then."
)

# A text to an assigned conversation is for the assignee. `subject_id` of texts is the id of the latest one.
_ADD = f"""
INSERT INTO notices AS n
  (account_id, user_id, kind, contact_id, subject_id, title, body, count, is_shown, mail_at, created_at)
SELECT f.account_id, u.id, f.kind, f.contact_id, f.subject_id, f.title, f.body, f.count, coalesce(p.in_browser, true),
  CASE WHEN coalesce(p.by_mail, f.is_mailed) THEN f.mail_at END, f.created_at
FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::int[], $7::bigint[], $8::text[],
    $9::boolean[], $10::boolean[], $11::timestamptz[], $12::timestamptz[], $13::bigint[]) WITH ORDINALITY
  AS f(account_id, kind, contact_id, title, body, count, user_id, actor, is_of_owners, is_mailed, mail_at, created_at,
    subject_id, position)
{conversations.join("f.contact_id")}
{accounts.join_people("f.account_id")}
LEFT JOIN notice_preferences p ON p.user_id = u.id AND p.kind = f.kind
WHERE CASE WHEN f.is_of_owners THEN {accounts.IS_OWNER}
    ELSE u.id = coalesce(f.user_id, {conversations.ASSIGNEE}, u.id) END
  AND 'user:' || u.id <> f.actor
  AND {{is_due}}
  AND (coalesce(p.in_browser, true) OR coalesce(p.by_mail, f.is_mailed))
ORDER BY u.id, f.contact_id, f.position
ON CONFLICT (user_id, contact_id) WHERE kind = 'new_message' AND read_at IS NULL
DO UPDATE SET count = n.count + excluded.count, created_at = greatest(n.created_at, excluded.created_at),
  subject_id = greatest(n.subject_id, excluded.subject_id)
RETURNING account_id, kind, mail_at IS NOT NULL AS is_mailed, xmax = 0 AS is_new
"""

# An agent that answers needs no person: then a text is noticed once the agent has left it to people.
ADD = _ADD.format(
    is_due=f"""(f.kind <> 'new_message' OR NOT (coalesce({conversations.AI_STATE} = 'active', false)
    AND {agents.has_answering("f.account_id", conversations.SENDING_NUMBER)}))"""
)

# Whether people were told as the text came depends on the agents of that time, which may be others now.
ADD_LEFT = _ADD.format(
    is_due="""NOT EXISTS (SELECT FROM notices told WHERE told.user_id = u.id AND told.contact_id = f.contact_id
    AND told.kind = 'new_message' AND told.subject_id >= f.subject_id)"""
)

# One reader marks a conversation as read for all users, but does not take note of assignments to others.
READ = """
UPDATE notices n SET read_at = now()
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) AS f(contact_id, actor, at)
WHERE n.contact_id = f.contact_id AND n.read_at IS NULL AND n.created_at <= f.at
  AND (n.kind = 'new_message' OR 'user:' || n.user_id = f.actor)
RETURNING n.account_id
"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A cause of notices: to one user, to those whom its conversation concerns, or to the owners."""

    account_id: int
    kind: NoticeKind
    at: datetime
    title: str
    body: str = ""
    contact_id: int | None = None
    user_id: int | None = None
    actor: str = ""
    count: int = 1
    subject_id: int | None = None
    is_left: bool = False


async def add_notices(batch: Batch) -> None:
    """Add the notices that a batch of events causes, and mark others as read."""
    said = await intents.find_all(batch)
    told = [event for event in batch.events if said.get(event.id, NOTHING).kind is not IntentKind.opt_out]
    facts = list(_joined(fact for event in told for fact in _facts(event)))
    for statement, is_left in ((ADD, False), (ADD_LEFT, True)):
        if chosen := [fact for fact in facts if fact.is_left is is_left]:
            await _add(batch, statement, chosen)
    if read := [event for event in batch.events if _is_read(event)]:
        of_events = [event.contact_id for event in read], [event.payload["actor"] for event in read]
        rows = await batch.connection.fetch(READ, *of_events, [event.created_at for event in read])
        await _record(batch, {row["account_id"]: NoticesRead() for row in rows})


REACTIONS = (Reaction("notices", add_notices),)


async def _add(batch: Batch, statement: str, facts: Sequence[Fact]) -> None:
    """Add the notices of facts, and tell of those that are new."""
    rows = await batch.connection.fetch(statement, *_columns(facts))
    await _announce(batch, {(row["account_id"], row["kind"]) for row in rows if row["is_new"]})
    if any(row["is_mailed"] for row in rows):
        batch.notify(TOPIC)


async def _announce(batch: Batch, added: Iterable[tuple[int, str]]) -> None:
    """Record a live update for each account."""
    kinds: dict[int, list[str]] = {}
    for account_id, kind in sorted(added):
        kinds.setdefault(account_id, []).append(kind)
    await _record(batch, {account_id: NoticesAdded(kinds=each) for account_id, each in kinds.items()})


async def _record(batch: Batch, recorded: Mapping[int, NoticesAdded | NoticesRead]) -> None:
    """Record an event for each account."""
    if recorded:
        await outbox.record_all(batch.connection, [Recorded(*each) for each in recorded.items()])
        batch.notify("events")


def _facts(event: OutboxEvent) -> Iterator[Fact]:
    said, of_account = event.payload, event.account_id
    match event.name:
        case NewMessage.name:
            name = " ".join(filter(None, (said["contact_first_name"], said["contact_last_name"]))) or "a contact"
            yield _text(event, f"New text from {name}", said["id"])
        case AgentState.name if said.get("awaits_person"):
            yield replace(_text(event, "An AI agent left a text to people", said.get("text_id")), is_left=True)
        case ConversationChanged.name:
            yield from _changes(event)
        case LowBalance.name:
            title = "Your credits are running low"
            yield Fact(of_account, NoticeKind.low_balance, event.created_at, title, LOW_BALANCE.format(**said))
        case OwnersNotified.name:
            fact = Fact(of_account, NoticeKind(said["kind"]), event.created_at, said["title"], said["body"])
            yield replace(fact, contact_id=event.contact_id, subject_id=said.get("subject_id"))
        case _:
            pass


def _text(event: OutboxEvent, title: str, id: int | None) -> Fact:
    fact = Fact(event.account_id, NoticeKind.new_message, event.created_at, title, contact_id=event.contact_id)
    return replace(fact, subject_id=id)


def _changes(event: OutboxEvent) -> Iterator[Fact]:
    said, changed = event.payload, event.payload.get("changed", ())
    if "assignee_id" in changed and said["assignee_id"]:
        yield _about(event, NoticeKind.assigned, "A conversation was assigned to you")
    if "ai_state" in changed and said["ai_state"] == AiState.handed_over:
        yield _about(event, NoticeKind.handed_over, "An AI agent handed a conversation over")


def _about(event: OutboxEvent, kind: NoticeKind, title: str) -> Fact:
    fact = Fact(event.account_id, kind, event.created_at, title, contact_id=event.contact_id)
    return replace(fact, user_id=event.payload["assignee_id"], actor=event.payload["actor"])


def _is_read(event: OutboxEvent) -> bool:
    return (
        event.name == ConversationChanged.name
        and "unread_count" in event.payload.get("changed", ())
        and (event.payload["unread_count"] == 0)
    )


def _joined(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Join the texts of a contact, because a statement can change its notice once only.

    Texts that an agent left to people are joined apart, because they have a statement of their own.
    """
    texts: dict[tuple[int | None, bool], Fact] = {}
    for fact in facts:
        if fact.kind is not NoticeKind.new_message:
            yield fact
            continue
        place = fact.contact_id, fact.is_left
        earlier = texts.get(place)
        texts[place] = replace(fact, count=earlier.count + 1) if earlier else fact
    yield from texts.values()


def _columns(facts: Sequence[Fact]) -> Iterator[list[object]]:
    yield [fact.account_id for fact in facts]
    yield [fact.kind for fact in facts]
    yield [fact.contact_id for fact in facts]
    yield [fact.title for fact in facts]
    yield [fact.body for fact in facts]
    yield [fact.count for fact in facts]
    yield [fact.user_id for fact in facts]
    yield [fact.actor for fact in facts]
    yield [fact.kind in OF_OWNERS for fact in facts]
    yield [fact.kind in MAILED for fact in facts]
    yield [fact.at if fact.kind in OF_OWNERS else fact.at + MAIL_AFTER for fact in facts]
    yield [fact.at for fact in facts]
    yield [fact.subject_id for fact in facts]
