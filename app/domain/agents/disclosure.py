"""States that a machine answers, and separates the question about that from the rest of a message."""

import re

from app.domain.agents import signals
from app.domain.agents.signals import Signal
from app.domain.kernel import sms_parts

DISCLOSURE = "I am an automated assistant of {company}. Ask for a person at any time, and one will answer you."
OPENING = "I am an automated assistant of {company}."
"""The beginning of a reply that goes on with the answer to another question."""

HANDED_OVER = "A person will answer you."
LEAST_WORDS = 2
"""The least number of words, beside small talk, of a text without a question mark that says something else."""

_ASKING = (
    r"(?:when|what|where|how|which|why|do|does|did|can|could|will|would|is there|are there|are you|is this|am i"
    r"|i want|i need|i'd like)\b"
)
_PARTS = re.compile(
    rf"(?<=[.?!])\s+|\n+|[,;]?\s+(?:and|but)\s+(?:also\s+)?(?={_ASKING})|[,;]\s+(?={_ASKING})", re.IGNORECASE
)
_WHO = re.compile(r"\bwho(?:'s| is| are) (?:this|that|you)\b", re.IGNORECASE)
_SMALL_TALK = re.compile(
    r"\b(?:yes or no|(?:please )?be honest|answer me|tell me the truth|no offen[cs]e"
    r"|hi|hello|hey|there|good|morning|afternoon|evening|please|sorry|ok|okay|wait|really|just|wondering|curious"
    r"|asking|lol|haha|hmm*|huh|what|seriously|honestly|and|so|but|also"
    r"|hola|buen[oa]s|d[ií]as|tardes|noches|por favor|bonjour|bonsoir|salut|madame|monsieur|s'il vous pla[iî]t"
    r"|hallo|guten|tag|morgen|abend|bitte|ol[aá]|bo[am]|dia|tarde|noite|ciao|buongiorno|buonasera)\b",
    re.IGNORECASE,
)


def remainder(message: str) -> str:
    """Return a message without the question whether a machine answers; empty where it asks nothing else."""
    lines = (" ".join(line.split()) for line in message.splitlines())  # long gaps would slow the patterns down
    parts = [part.strip() for part in _PARTS.split("\n".join(filter(None, lines)))]
    rest = " ".join(part for part in parts if part and not _asks_who(part))
    words = re.findall(r"\w+", _SMALL_TALK.sub(" ", rest))
    is_asking = bool(words) and (len(words) >= LEAST_WORDS or "?" in rest)
    return rest if is_asking and Signal.closing not in signals.read(rest) else ""


def hand_over_text(opening: str, message: str, max_parts: int) -> str:
    """Return the text of a hand-over with an opening: the account's message, or a short one if that does not fit."""
    if not opening:
        return message
    text = f"{opening} {message}"
    return text if sms_parts.count(text).segments <= max_parts else f"{opening} {HANDED_OVER}"


def _asks_who(part: str) -> bool:
    return Signal.identity in signals.read(part) or bool(_WHO.search(part))
