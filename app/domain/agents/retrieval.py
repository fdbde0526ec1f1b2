"""Finds the passages of an agent's knowledge for a message, with scores from 0 to 1.

The score of a question is the harmonic mean of two shares: of its words that the message has, and of the message's
words that the question or its answer has. A passage of a document has the second share. Words are stems of English;
similar spellings (trigrams) count where they score higher, which serves other languages and typos.
"""

from collections.abc import Sequence

from sqlalchemy import text

from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.writing.writer import Passage

GROUNDED = 0.2
"""The score of the best passage below which a model is not asked."""

MOST_PASSAGES, LONGEST_MESSAGE = 5, 500
NOISE = (
    "hi",
    "hello",
    "hey",
    "pleas",
    "thank",
    "thx",
    "time",
    "today",
    "tomorrow",
    "ok",
    "know",
    "like",
    "want",
    "need",
)
"""Stems that say nothing of the subject of a message."""

FIND = text("""
WITH given AS (SELECT CAST(:message AS text) AS message, CAST(:noise AS text[]) AS noise), asked AS (
  SELECT message, noise, ARRAY(
    SELECT unnest(tsvector_to_array(to_tsvector('english'::regconfig, message))) EXCEPT SELECT unnest(noise)
  ) AS words FROM given
), counted AS (
  SELECT p.title, p.body, p.is_answer, similarity(p.title, message) AS alike, cardinality(words_asked.words) AS size,
    (SELECT count(*) FROM unnest(tsvector_to_array(p.title_words)) AS own(word) WHERE word <> ALL(noise)) AS title_size,
    (SELECT count(*) FROM unnest(tsvector_to_array(p.title_words)) AS own(word)
     WHERE word = ANY(words_asked.words)) AS title_hits,
    (SELECT count(*) FROM unnest(tsvector_to_array(p.words)) AS own(word) WHERE word = ANY(words_asked.words)) AS hits
  FROM ai_passages p CROSS JOIN asked AS words_asked WHERE p.account_id = :account_id AND p.agent_id = :agent_id
), shared AS (
  SELECT *, title_hits::float8 / greatest(title_size, 1) AS of_title, hits::float8 / greatest(size, 1) AS of_message
  FROM counted
), scored AS (
  SELECT title, body, is_answer, CASE
    WHEN is_answer THEN greatest(alike, 2 * of_title * of_message / greatest(of_title + of_message, 0.001))
    ELSE greatest(of_message, alike * 0.5) END AS score
  FROM shared
)
SELECT title, body, score, is_answer FROM scored WHERE score > 0 ORDER BY score DESC, title, body LIMIT :most
""")


async def find(unit: UnitOfWork, agent_id: int, message: str) -> Sequence[Passage]:
    """Return the best passages for a message, the best first."""
    found = await unit.execute(
        FIND,
        {
            "message": message[:LONGEST_MESSAGE],
            "noise": list(NOISE),
            "account_id": unit.actor.account_id,
            "agent_id": agent_id,
            "most": MOST_PASSAGES,
        },
    )
    return [Passage(row.title, row.body, round(row.score, 3), row.is_answer) for row in found]
