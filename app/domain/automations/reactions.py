"""Recognizes watched keywords in inbound messages, and starts runs of automations."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from app.db.rows import fetch
from app.domain.automations import keywords, runs
from app.domain.automations.events import KeywordReply
from app.domain.automations.models import KeywordMatch
from app.domain.consent import sql as consent
from app.domain.consent.recognition import NOTHING, Intent
from app.domain.contacts.events import OptInConfirmed
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.messages import intents
from app.domain.messages.events import NewMessage
from app.domain.messages.opt_in_questions import Asked
from app.domain.numbers import sql as numbers

# A keyword matches only messages received after its creation, as a subscription receives only later events.
FIND_WATCHED = f"""
SELECT w.id, w.account_id, w.keyword, w.match, w.opts_in, w.double_opt_in, w.opt_in_tag, w.reply, w.created_at,
  {numbers.number_of("w.phone_number_id")} AS number
FROM watched_keywords w WHERE w.account_id = ANY($1::bigint[]) AND w.is_active
"""
COUNT_HITS = """
UPDATE watched_keywords w SET hits = w.hits + h.hits FROM unnest($1::bigint[], $2::bigint[]) AS h(id, hits)
WHERE w.id = h.id
"""
WEIGHT = (KeywordMatch.exact, KeywordMatch.starts_with, KeywordMatch.word)
"""The kinds of matches, the most specific first."""


class Watched(NamedTuple):
    """A watched keyword; `number` is the one to which texts must be sent, None for any."""

    id: int
    account_id: int
    keyword: str
    match: str
    opts_in: bool
    double_opt_in: bool
    opt_in_tag: str
    reply: str
    created_at: datetime
    number: str | None

    def is_for(self, event: OutboxEvent, text: str) -> bool:
        """Return whether a normalized text, of an event of the account, matches."""
        if self.created_at > event.created_at or self.number not in (None, event.payload["to_number"]):
            return False
        match KeywordMatch(self.match):
            case KeywordMatch.exact:
                return text == self.keyword
            case KeywordMatch.starts_with:
                return f"{text} ".startswith(f"{self.keyword} ")
            case KeywordMatch.word:  # pragma: no branch - no kind is left
                return f" {self.keyword} " in f" {keywords.words_of(text)} "


async def recognize_keywords(batch: Batch) -> None:
    """Record `keyword_reply` for each watched keyword that an inbound message of a batch matches.

    Opt-outs, and texts that may be one, match none. The most specific match comes first: its reply is the one sent.
    """
    texts = [event for event in batch.events if event.name == NewMessage.name]
    if not texts:
        return
    watched = await fetch(batch.connection, Watched, FIND_WATCHED, list({event.account_id for event in texts}))
    if not watched:
        return
    said = await intents.find_all(batch)
    found = [(event, each) for event in texts for each in _match(watched, event, said.get(event.id, NOTHING))]
    if not found:
        return
    replies = [
        Recorded(event.account_id, _reply(event.payload, each.keyword), event.contact_id) for event, each in found
    ]
    await outbox.record_all(batch.connection, replies)
    hits = Counter(each.id for _, each in found)
    await batch.connection.execute(COUNT_HITS, [*hits], [*hits.values()])
    await _act(batch, found)


async def _act(batch: Batch, found: Sequence[tuple[OutboxEvent, Watched]]) -> None:
    """Record the consent of texts that opt in, and start the reply of the most specific keyword of each text.

    A text that must be confirmed is no consent yet, and has its reply after the confirmation. One that has more words
    than the keyword may want a further answer.
    """
    answered = set[int]()
    for event, each in found:
        said = event.payload
        if each.double_opt_in:
            await runs.ask_opt_in(batch, event, each.id, Asked(said["id"], each.keyword, each.opt_in_tag))
            answered.add(event.id)
            continue
        if each.opts_in:
            facts = event.account_id, said["contact_phone"], said["body"], said["id"], f"keyword:{each.keyword}"
            await batch.connection.execute(consent.RECORD_OPT_IN, *facts, said["sent_at"])
        if each.reply and event.id not in answered:
            answered.add(event.id)
            await runs.reply(batch, event, each.id, each.reply)
    is_whole = {event.id for event, each in found if keywords.normalize(event.payload["body"]) == each.keyword}
    batch.answered.update(answered & is_whole)


async def reply_to_opt_ins(batch: Batch) -> None:
    """Start the replies of the keywords whose double opt-in was confirmed."""
    confirmed = [event for event in batch.events if event.name == OptInConfirmed.name]
    if not confirmed:
        return
    watched = await fetch(batch.connection, Watched, FIND_WATCHED, list({event.account_id for event in confirmed}))
    replies = {(each.account_id, each.keyword): each for each in watched if each.double_opt_in and each.reply}
    for event in confirmed:
        if each := replies.get((event.account_id, event.payload["keyword"])):
            await runs.reply(batch, event, each.id, each.reply)


def _match(watched: Sequence[Watched], event: OutboxEvent, intent: Intent) -> Sequence[Watched]:
    """Return the keywords that a text matches, the most specific first."""
    text = keywords.normalize(event.payload["body"])
    own = [each for each in watched if each.account_id == event.account_id and each.is_for(event, text)]
    if not own or keywords.is_reserved(intent):
        return ()
    return sorted(own, key=lambda each: (WEIGHT.index(KeywordMatch(each.match)), -len(each.keyword), each.keyword))


REACTIONS = (
    Reaction("keywords", recognize_keywords),
    Reaction("opt_ins", reply_to_opt_ins),
    Reaction("automations", runs.start_runs),
)


def _reply(text: dict[str, Any], keyword: str) -> KeywordReply:
    return KeywordReply(
        contact_id=text["contact_id"],
        first_name=text["contact_first_name"],
        last_name=text["contact_last_name"],
        phone=text["contact_phone"],
        email=text["contact_email"],
        keyword=keyword,
        body=text["body"],
        from_number=text["from_number"],
        to_number=text["to_number"],
        received_at=text["sent_at"],
    )
