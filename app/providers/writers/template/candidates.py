"""Draft texts from a brief and sentence patterns."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from app.domain.agents.writer import Brief
from app.domain.kernel.sms_parts import MAX_LENGTH, count
from app.providers.writers.template import words as w
from app.providers.writers.template.phrases import Clause, Form, Intent, patterns_for
from app.providers.writers.template.plain import PLACEHOLDER, plain
from app.providers.writers.template.reading import read

OPT_OUT = "Reply STOP to opt out."
GREETINGS = ("Hi", "Hello", "Hey")
SENDERS = ("it's {}.", "{} here.", "this is {}.")
CLOSINGS = ("", "Have a great day!", "Talk to you soon!")
NOTHING_FITS = "We have news for you."
LONGEST_NAME = 60


def candidates(brief: Brief) -> list[str]:
    """Return `brief.count` different texts; those of one segment come before longer ones."""
    clauses = read(brief.description)
    company = plain(brief.company_name).rstrip(".")
    known = company.casefold() in plain(brief.description).casefold()
    sender = "" if known or len(company) > LONGEST_NAME else company
    drafts = dict.fromkeys(_drafts(clauses, sender))
    return list(islice(sorted(drafts, key=_segments), brief.count))


def _drafts(clauses: Sequence[Clause], company: str) -> Iterator[str]:
    for closing in CLOSINGS:
        for turn in range(len(GREETINGS) ** 2):
            greeting = (turn + turn // len(GREETINGS)) % len(GREETINGS)
            full, *shorter = (
                _greeted(greeting, sender, _body(clauses, pattern, closing))
                for sender, pattern in ((company, turn), ("", turn), ("", 0))
            )
            yield next((text for text in (full, *shorter) if _segments(text) == 1), full)


def _segments(text: str) -> int:
    return count(text).segments


def _greeted(greeting: int, company: str, body: str) -> str:
    hello = f"{GREETINGS[greeting]} {PLACEHOLDER}"
    if company:
        opening, body = f"{hello}, {SENDERS[greeting].format(company)}", _capital(body)
    else:
        opening = f"{hello}," if body[0].islower() else f"{hello}!"
    room = MAX_LENGTH - len(opening) - len(OPT_OUT) - 2
    return f"{opening} {_clip(body, room)} {OPT_OUT}"


def _clip(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return text[: room + 1].rpartition(" ")[0] or NOTHING_FITS


def _body(clauses: Sequence[Clause], turn: int, closing: str) -> str:
    first, *others = clauses
    sentences = [_sentence(first, turn), *(_capital(_sentence(clause, turn, later=True)) for clause in others)]
    return " ".join([*sentences, closing]).strip()


def _sentence(clause: Clause, turn: int, *, later: bool = False) -> str:
    patterns = patterns_for(clause.intent, clause.form)
    if ": " in clause.words:
        patterns = _without_colon(patterns) or _without_colon(patterns_for(Intent.generic, Form.text))
    as_it_is = later and clause.intent is Intent.generic
    return _fill(patterns[0 if as_it_is else turn % len(patterns)], clause.words)


def _without_colon(patterns: Sequence[str]) -> list[str]:
    return [pattern for pattern in patterns if ": {text}" not in pattern]


def _fill(pattern: str, words: str) -> str:
    before, slot, after = re.split(r"(\{[Tt]ext\}|$)", pattern, maxsplit=1)
    if (words[-1:] in ("!", "?") and after[:1] in (".", "!", "?")) or (_ends_in_link(words) and after[:1] == "."):
        after = after[1:]
    return f"{before}{_capital(words) if slot == '{Text}' else _small(words)}{after}"


def _ends_in_link(words: str) -> bool:
    return re.search(r"\w\.[a-z]{2,}(?:/\S*)?$", words) is not None


def _capital(words: str) -> str:
    """Return words with an initial capital, unless the first has its own spelling: "iPhone", "example.com"."""
    first = words.split(" ", 1)[0]
    own_way = "." in first[:-1] or not first.islower()
    return words if own_way else words[:1].upper() + words[1:]


def _small(words: str) -> str:
    return words[:1].lower() + words[1:] if w.COMMON_START.match(words) else words
