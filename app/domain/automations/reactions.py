"""Recognizes watched keywords in inbound messages."""

from collections.abc import Sequence
from typing import Any

from app.db.engine import Connection
from app.domain.automations import keywords
from app.domain.automations.events import KeywordReply
from app.domain.events import sql
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.messages.events import NewMessage

# A keyword matches only messages received after its creation, as a subscription receives only later events.
FIND_WATCHED = """
SELECT said.place FROM unnest($1::bigint[], $2::text[], $3::timestamptz[]) WITH ORDINALITY
  AS said(account_id, keyword, at, place)
JOIN watched_keywords w ON w.account_id = said.account_id AND w.keyword = said.keyword AND w.created_at <= said.at
ORDER BY said.place
"""


async def recognize_keywords(batch: Batch) -> None:
    """Record `keyword_reply` for each inbound message in a batch of events that equals a watched keyword."""
    texts = [event for event in batch.events if event.name == NewMessage.name]
    words = [(event, keywords.normalize(event.payload["body"])) for event in texts]
    short = [(event, word) for event, word in words if 1 <= len(word) <= keywords.MAX_LENGTH]
    if short and (replies := await _find_watched(batch.connection, short)):
        await batch.connection.execute(
            sql.INSERT,
            [event.account_id for event, _ in replies],
            [KeywordReply.name for _ in replies],
            [event.contact_id for event, _ in replies],
            [_reply(event.payload, word).payload() for event, word in replies],
            [None for _ in replies],
        )


REACTIONS = (Reaction("keywords", recognize_keywords),)


async def _find_watched(
    connection: Connection, words: Sequence[tuple[OutboxEvent, str]]
) -> list[tuple[OutboxEvent, str]]:
    rows = await connection.fetch(
        FIND_WATCHED,
        [event.account_id for event, _ in words],
        [word for _, word in words],
        [event.created_at for event, _ in words],
    )
    places: list[int] = [row["place"] for row in rows]
    watched = [words[place - 1] for place in places]
    return [(event, word) for event, word in watched if not keywords.is_reserved(event.payload["body"])]


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
