"""Complements of directives in a brief: a topic, an action, a statement, or independent text."""

import re

from app.providers.writers.template import words as w
from app.providers.writers.template.phrases import Clause, Form, Intent


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_PREPOSITION = _regex(r"(?:for|on|about|after|of|regarding|to|with|before|since|from|at)\s+")
_ACTION = _regex(rf"to\s+(?=(?:{w.ACTIONS})\b)")
_ABOUT = _regex(r"(?:about|of|regarding|on|for|to)\s+")
_THAT = _regex(r"that\s+")
_HOW = _regex(r"(?:how|where|when|what|why)\s")
_WHETHER = _regex(r"(?:if|whether|how|where|when|what|which|why|who)\s")
_HEAD = _regex(
    rf"(?P<article>(?:a|an|the)\s+)?(?:(?!(?:for|on|at|in|with|of|our|your|my)\b)[\w'-]+\s+){{0,2}}(?:{w.PERSONAL})s?\b"
    r"(?=\s*(?:$|[,;:.(]|(?:for|on|at|in|with|of|from|to|is|and)\b|[\w-]*\d|\w+day\b|tomorrow|tonight|today|this|next))"
)
_AFTER = _regex(r"\bafter (.+)$")
_INVERTED = _regex(
    r"(?:if|whether) you (?:(?P<aux>are|can|will|would|could|should|did|do|were)"
    r"|(?=(?:want|need|like|plan|prefer|know|own|use|have)\b)) ?(?P<rest>.+)"
)

_OWNED = {Intent.reminder, Intent.payment, Intent.confirm, Intent.follow_up, Intent.review, Intent.thanks}
_SAID_BY_ITSELF = {Intent.welcome, Intent.thanks, Intent.confirm}
_PHRASED = {
    Intent.apology,
    Intent.congratulation,
    Intent.follow_up,
    Intent.request,
    Intent.thanks,
    Intent.welcome,
}
_REFINED = {
    Intent.reminder: {Intent.payment},
    Intent.request: {Intent.review, Intent.payment},
    Intent.announcement: {Intent.notice},
    None: {Intent.notice, Intent.offer, Intent.event, Intent.payment},
}


def complement(name: str, intent: Intent | None, words: str, about: str) -> Clause:
    """Return the clause of a directive and the words after it; `about` are the words before it."""
    intent = _refine(intent, f"{about} {words}")
    if about:
        return _joined(intent, about, words)
    if not words:
        return Clause(intent, Form.none)
    if that := _THAT.match(words):
        return Clause(intent, Form.statement, words[that.end() :])
    if action := _ACTION.match(words):
        return Clause(intent, Form.action, words[action.end() :])
    if _WHETHER.match(words):
        return _asked(intent, words)
    return _prepositional(intent, words) or _bare(name, intent, words)


def as_it_stands(text: str) -> Clause:
    """Return the clause of a text without a directive: copy, or notes for it."""
    words = trim(text)
    intent = content_of(words) or Intent.generic
    if not words:
        return Clause(Intent.generic, Form.none)
    if words.endswith("?"):
        return Clause(Intent.question, Form.text, words)
    if intent in _SAID_BY_ITSELF:
        return Clause(Intent.generic, Form.text, words)
    if _has_verb(words) or intent not in _OWNED:
        return Clause(intent, Form.text, words)
    return _topic(intent, words)


def about_reader(intent: Intent | None, relative: str) -> Clause:
    """Return the clause of a statement about the readers: "you asked about pricing"."""
    if intent in (Intent.follow_up, Intent.thanks):
        return Clause(intent, Form.statement, relative)
    return Clause(Intent.generic, Form.text, relative)


def content_of(words: str) -> Intent | None:
    """Return the intent of words by their content."""
    return next((intent for intent, form in w.CONTENT if form.search(words)), None)


def trim(words: str) -> str:
    """Return words without the punctuation around them."""
    return words.strip(" ,;:-").rstrip(" .,;:-")


def _refine(intent: Intent | None, words: str) -> Intent:
    content = content_of(words)
    if content is not None and content in _REFINED.get(intent, ()):
        return content
    return intent or Intent.announcement


def _joined(intent: Intent, about: str, words: str) -> Clause:
    lead = re.match(r"for\s+|on\s+", words, re.IGNORECASE)
    rest = words[lead.end() :] if lead and w.MOMENT.match(words[lead.end() :]) else words
    about = _own(about) if intent in _OWNED else about
    if lead or w.MOMENT.match(rest):
        return Clause(intent, _form(about), f"{about} {rest}")
    rest = _ABOUT.sub("", rest, count=1) if _ABOUT.match(rest) else rest
    return Clause(intent, Form.text if rest else _form(about), f"{about}: {rest}" if rest else about)


def _asked(intent: Intent, words: str) -> Clause:
    inverted = _INVERTED.fullmatch(words)
    if inverted is not None:
        return Clause(Intent.question, Form.text, f"{(inverted['aux'] or 'do')} you {inverted['rest']}")
    if intent is Intent.request:
        return Clause(intent, Form.statement, words)
    return Clause(intent, Form.text, f"here's {words}" if _HOW.match(words) else words)


def _prepositional(intent: Intent, words: str) -> Clause | None:
    preposition = _PREPOSITION.match(words)
    if preposition is None:
        return None
    topic = words[preposition.end() :]
    owned = _own(topic) if intent in _OWNED else topic
    if intent is Intent.welcome:
        return Clause(intent, Form.phrase, f"to {topic}")
    if intent in _PHRASED:
        return Clause(intent, Form.phrase, f"{preposition[0]}{owned}")
    if _HOW.match(topic):
        return _asked(intent, topic)
    if intent is Intent.review:
        return _review(topic, f"{preposition[0]}{owned}")
    return _topic(intent, topic) if _ABOUT.fullmatch(preposition[0]) else Clause(intent, Form.text, words)


def _review(topic: str, phrase: str) -> Clause:
    if content_of(topic) is not Intent.review:
        return Clause(Intent.review, Form.topic, f"a review {phrase}")
    return Clause(Intent.review, Form.topic, _AFTER.sub(lambda after: f"after {_own(after[1])}", topic))


def _bare(name: str, intent: Intent, words: str) -> Clause:
    if _has_verb(words):
        return Clause(intent, Form.statement, words)
    if name == "offer" or (name == "wish" and not re.match(r"happy|merry", words, re.IGNORECASE)):
        return Clause(intent, Form.topic, words)
    if name in ("announce", "confirm", "invite", "ask"):
        return _topic(intent, words)
    return Clause(intent, Form.text, words)


def _topic(intent: Intent, words: str) -> Clause:
    words = _own(words) if intent in _OWNED else words
    return Clause(intent, Form.text if intent is Intent.offer else _form(words), words)


def _form(words: str) -> Form:
    return Form.topic if w.DETERMINED.match(words) else Form.text


def _own(words: str) -> str:
    """Return "your appointment" for "appointment" and for "an appointment"."""
    head = _HEAD.match(words)
    if head is None or (w.DETERMINED.match(words) and not head["article"]):
        return words
    bare = words[len(head["article"] or "") :]
    return f"your {bare[:1].lower() if w.COMMON_START.match(bare) else bare[:1]}{bare[1:]}"


def _has_verb(words: str) -> bool:
    return w.FINITE.search(re.split(r"[,:;(]", words, maxsplit=1)[0]) is not None
