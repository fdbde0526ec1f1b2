"""The users who look at a conversation, or type in it: passed on at once, and never stored."""

from dataclasses import dataclass
from datetime import datetime

LASTS_SECONDS = 15
"""The time for which a presence holds; clients announce it again before."""


@dataclass(frozen=True, slots=True)
class Presence:
    """An actor, by its label, who looks at a conversation; `typing` while writing an answer."""

    account_id: int
    conversation_id: int
    contact_id: int
    actor: str
    typing: bool
    at: datetime
