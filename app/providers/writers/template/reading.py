"""Parses a brief into clauses, each with its intent and its words."""

import re
from collections.abc import Sequence

from app.providers.writers.template import words as w
from app.providers.writers.template.complements import about_reader, as_it_stands, complement, content_of, trim
from app.providers.writers.template.phrases import Clause, Form, Intent
from app.providers.writers.template.plain import plain

_TEXTS = r"(?:texts?|sms|messages?|txts?|copy|blasts?|campaigns?|notes?)"
_KINDS = (
    rf"(?:{_TEXTS}|reminders?|invitations?|invites?|announcements?|confirmations?|notifications?|alerts?|updates?"
    r"|follow[ -]?ups?(?!\s+(?:with|on|after)\b)|promos?|promotions?|greetings?|apology|ads?"
    r"|(?:review|feedback|payment|referral) requests?"
    r"|something(?:\s+(?:nice|fun|friendly|short|special))?)"
)
_NEUTRAL = re.compile(
    r"\b(?:a|an|the|our|short|quick|brief|friendly|polite|warm|gentle|kind|nice|fun|funny|catchy|simple|professional"
    r"|casual|big|important|exciting|urgent|good|great|happy|engaging|sms|text|message|marketing|promotional|promo|sales"
    r"|thank|thanks|you|thank-you|welcome|welcoming|review|feedback|payment|customers?|personal|personalized|informative"
    r"|persuasive|compelling|special)\b",
    re.IGNORECASE,
)


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_GREETING = _regex(r"^(?:hi|hello|hey|dear)\s+(?:\{first_name\}|there|everyone|all|friends?)[\s,!.:-]*")
_OPT_OUT = _regex(r"\s*\b(?:reply|text|send)\s+[\"']?stop\b[^.!?]*[.!?]?\s*$")
_ASKING = _regex(
    r"(?:(?:please|kindly|(?:can|could|would|will) you|(?:i|we)(?: would|'d)? (?:want|need|like)(?: you)?(?: to)?"
    r"|help me(?: to)?|let's|also|then|now|and)\s+)+"
)
_FRAME = _regex(
    r"(?:(?:write|create|draft|compose|generate|make|craft|prepare|send|give|do)\s+(?:(?:me|us|out)\s+)?"
    rf"(?:{w.AUDIENCE}\s+)?)?"
    r"(?:(?:a|an|the|some|one|our|another|\d+)\s+)?"
    rf"(?P<about>(?:[\w'&%-]+,?\s+){{0,6}}?)(?P<kind>{_KINDS}(?:[ -]{_KINDS})*)\b"
    rf"(?=\s*[:,]|\s+(?:to|for|that|which|about|on|of|with|regarding|telling|saying|{w.ANY_DIRECTIVE})\b|$)"
)
_TONE = _regex(
    r"(?:and\s+)?(?:keep (?:it|the tone)|make it (?!to\b|in\b|on\b|by\b)|be (?:friendly|polite|brief|warm|short)"
    r"|no emojis?|use (?:a|an)\b.*\btone|don't use|(?:under|max(?:imum)?|at most) \d+ (?:characters|chars|words))\b"
)
_SENTENCE_END = re.compile(r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\bAve\.)(?<=[.!?])\s+")
_JOINT = _regex(
    rf"(?:\s+-\s+|\s*[,;]\s*(?:and\s+|then\s+|also\s+)*|\s+(?:and|then|plus)\s+(?:then\s+|also\s+)?)"
    rf"(?=(?:please\s+)?(?:{w.ANY_DIRECTIVE}|keep it|make it)\s(?!us\b|ends?\b))"
)
_BUSINESS = _regex(rf"^for\s+(?:a|an|my|our|the)\s+(?:[\w'-]+\s+){{1,4}}?(?=(?:{w.ANY_DIRECTIVE})\s)")
_AUDIENCE = _regex(rf"(?:(?:with|to|for|from)\s+)?{w.AUDIENCE}(?:\s+{w.RELATIVE})?\s*,?\s*")
_NAMED = re.compile(r"(?:[A-Z][a-z]+(?: [A-Z][a-z]+)?)\s+(?=(?:about|that|of|to|for|on)\b)")
_TO_AUDIENCE = _regex(rf"\s+to\s+{w.AUDIENCE}(?!\s+who\b)")
_FROM_AUDIENCE = _regex(rf"\s+from\s+{w.AUDIENCE}(?:\s+{w.RELATIVE})?")
_DIRECTIVE = tuple((name, _regex(rf"(?:{forms})\b(?!\s*:)"), intent) for name, (forms, intent) in w.DIRECTIVES.items())
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_TO_READER = _regex(r"\s+(?:us|your|back|ends?|valid|expires?)\b")
_TO_CUSTOMERS = _regex(r"\s+to\s+(?:(?:all|our|my|of)\s+)*(?:customers|clients|members|patients|subscribers|everyone)$")
_TOWARDS = _regex(r"(?:to|with)\s")
_OF_THINGS = {"announce", "confirm", "mention", "promote"}
_GIVEN = {"offer", "wish"}
_WITH = _regex(r"^with\s+")
_LED_BY = _regex(rf"^(?:to|that|which)\s+(?:will\s+)?(?=(?:{w.ANY_DIRECTIVE})\b)")


def read(description: str) -> list[Clause]:
    """Return the clauses of a brief in order, at least one."""
    text = _OPT_OUT.sub("", _GREETING.sub("", plain(description), count=1))
    first, *others = _SENTENCE_END.split(text)
    clauses = _read_sentence(first)
    for sentence in others:
        clauses += _read_sentence(sentence) if _is_asked(sentence) or not clauses else _verbatim(sentence)
    return clauses or [as_it_stands(text)]


def _is_asked(sentence: str) -> bool:
    return bool(_TONE.match(sentence) or _directive(sentence) or _FRAME.match(sentence))


def _verbatim(sentence: str) -> list[Clause]:
    words = trim(sentence)
    return [Clause(Intent.generic, Form.text, words)] if words else []


def _read_sentence(sentence: str) -> list[Clause]:
    asking = _ASKING.match(sentence)
    asked = sentence[asking.end() :].rstrip(" ?") if asking else sentence
    frame = _FRAME.match(asked)
    if frame is not None:
        return _read_framed(frame, asked[frame.end() :])
    return _read_parts(_JOINT.split(asked if _directive(asked) else sentence))


def _read_parts(parts: Sequence[str]) -> list[Clause]:
    return [clause for part in parts if trim(part) and not _TONE.match(part) for clause in _read_part(part)]


def _read_part(part: str) -> list[Clause]:
    found = _directive(part)
    if found is None:
        return [as_it_stands(part)]
    name, intent, rest = found
    return _address(name, intent, rest)


def _directive(text: str) -> tuple[str, Intent | None, str] | None:
    """Return the directive at the start of a text, its intent and the rest."""
    asking = _ASKING.match(text)
    text = text[asking.end() :] if asking else text
    for name, form, intent in _DIRECTIVE:
        match = form.match(text)
        if match is not None:
            rest = text[match.end() :]
            to_reader = _TO_READER.match(rest) and not _AUDIENCE.match(rest.lstrip())
            return None if to_reader else (name, intent, rest.strip())
    return None


def _read_framed(frame: re.Match[str], rest: str) -> list[Clause]:
    about = " ".join(_NEUTRAL.sub(" ", frame["about"].replace(",", " ")).split())
    birthday = "birthday" in about.lower()
    opening = [Clause(Intent.wish, Form.text, "happy birthday")] if birthday else []
    about = "" if birthday else about
    rest, relative = _unled(rest), ""
    if not _directive(rest):
        rest, relative = _for_audience(rest)
        rest = _WITH.sub("", _unled(rest), count=1)
    if _directive(rest):
        return [*opening, *_verbatim(about), *_verbatim(relative), *_read_parts(_JOINT.split(rest))]
    first, *others = _JOINT.split(rest)
    intent = None if birthday else content_of(f"{frame['about']}{frame['kind']}")
    return [*opening, *_clauses("", intent, trim(first), relative, about), *_read_parts(others)]


def _unled(rest: str) -> str:
    return _LED_BY.sub("", _BUSINESS.sub("", rest.lstrip(" :,-"), count=1), count=1)


def _address(name: str, intent: Intent | None, rest: str) -> list[Clause]:
    """Return the clauses of the audience and content after a directive."""
    relative = ""
    if name not in _OF_THINGS or _TOWARDS.match(rest):
        rest, relative = _for_audience(rest)
    if name == "ask":
        rest, relative = _without(_FROM_AUDIENCE.search(rest), rest) if not relative else (rest, relative)
    if name in _GIVEN:
        rest = _TO_AUDIENCE.sub("", rest, count=1)
    if name in _OF_THINGS:
        rest = _TO_CUSTOMERS.sub("", rest, count=1)
    return _clauses(name, intent, trim(rest), relative, "")


def _clauses(name: str, intent: Intent | None, words: str, relative: str, about: str) -> list[Clause]:
    words = _to_you(words, w.ADDRESSED)
    if relative and not words and not about:
        return [about_reader(intent, relative)]
    said = complement(name, intent, words, about)
    return [*_verbatim(relative), said] if relative else [said]


def _for_audience(rest: str) -> tuple[str, str]:
    """Return the text without the audience, and the relative clause about it."""
    named = _NAMED.match(rest)
    if named is not None:
        return _to_you(rest[named.end() :], w.ADDRESSED_BY_NAME), ""
    return _without(_AUDIENCE.match(rest), rest)


def _without(audience: re.Match[str] | None, rest: str) -> tuple[str, str]:
    if audience is None:
        return rest, ""
    left = f"{rest[: audience.start()]} {rest[audience.end() :]}"
    return left.lstrip(" :-"), _about_you(audience["relative"] or "")


def _to_you(words: str, addressed: dict[str, str]) -> str:
    return _WORD.sub(lambda word: addressed.get(word[0].lower(), word[0]), words)


def _about_you(relative: str) -> str:
    verb, _, rest = _to_you(relative, w.ADDRESSED).partition(" ")
    return f"you {w.VERBS_OF_YOU.get(verb.lower(), verb)} {rest}".strip() if verb else ""
