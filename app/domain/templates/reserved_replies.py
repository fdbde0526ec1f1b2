"""Finds texts that ask for a reply which the service itself acts on, such as "Reply CANCEL to cancel your visit".

A person who answers so opts out, and gets no text any more.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from app.domain.consent import recognition
from app.domain.consent.recognition import IntentKind
from app.domain.templates.lint_lists import ASKS, OF_MESSAGES

ACTS = {
    IntentKind.opt_out: "opts the person out of all texts",
    IntentKind.review: "may opt the person out of all texts",
    IntentKind.opt_in: "is read as a wish to get texts again",
    IntentKind.help: "is answered with the help text",
    IntentKind.wrong_number: "is read as a wrong number",
}

_ask = re.compile(
    rf"\b(?:{ASKS})\s*+[:\-]?\s*+[\"'“‘(]?"
    r"(?P<word>[A-Z]{2,15}(?: ALL)?\b|(?i:stop|stopall|cancel|end|quit|unsubscribe|"
    r"revoke|opt ?out|remove|start|unstop|help|info)\b)[\"'”’)]?(?P<rest>[^.!?\n]*)",
    re.IGNORECASE,
)
_purpose = re.compile(
    r"\s*+(?:,?\s*+(?:to|2|for|and we(?:'ll| will))\s+)(?P<verb>[a-z-]+(?:\s+(?:out|in|up|off))?)\s*(?P<object>.*)",
    re.IGNORECASE,
)
_of_messages = re.compile(OF_MESSAGES, re.IGNORECASE)
_harmless = "unsubscribe resubscribe subscribe opt-out optout opt-in help info information details assistance support"
_harmless_verbs = frozenset(_harmless.split())


class ReservedReply(NamedTuple):
    """A reserved word that a text asks for, its place, and its effect in the service."""

    start: int
    end: int
    word: str
    act: str


def find(text: str) -> Iterator[ReservedReply]:
    """Walk over the reserved words that a text asks people to answer with for a purpose of its own."""
    for asked in _ask.finditer(text):
        kind = recognition.classify(asked["word"]).kind
        if kind in ACTS and not _is_instruction(asked["rest"]):
            yield ReservedReply(asked.start("word"), asked.end("word"), asked["word"].upper(), ACTS[kind])


def _is_instruction(rest: str) -> bool:
    """Return whether a reply is asked for as the law wants it: to stop the texts, to get them again, or for help."""
    purpose = _purpose.match(rest)
    if purpose is None:
        return True
    verb, object = purpose["verb"].lower(), purpose["object"].strip(" ,;:)")
    if verb.partition(" ")[0] in _harmless_verbs or verb in ("opt out", "opt in"):
        return True
    return not object or bool(_of_messages.match(object))
