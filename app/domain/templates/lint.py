"""Checks of a text before it is sent: content that carriers filter, avoidable costs, and omissions.

Findings are advice. Only an error of the grammar of placeholders prevents a text from being saved.
"""

import enum
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import phonenumbers

from app.domain.kernel import links, smart_encoding, sms_parts
from app.domain.kernel.links import Link
from app.domain.kernel.placeholders import Vocabulary
from app.domain.templates import grammar, reserved_replies
from app.domain.templates.lint_lists import OPT_OUT, PHISHING, PRESSURE, RESTRICTED, SHORTENERS

MIN_LETTERS, MOST_CAPITALS = 20, 0.4
MOST_LINKS, MOST_PRESSURE = 1, 2
MOST_FOUND = 100
"""Maximum number of findings about one text."""


_shorteners = frozenset(SHORTENERS.split())
_address = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|0x[0-9a-f]+|\d{8,10}")
_pressure = re.compile(PRESSURE, re.IGNORECASE)
_restricted = {category: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for category, words in RESTRICTED.items()}
_phishing = re.compile(PHISHING, re.IGNORECASE)
_opt_out = re.compile(OPT_OUT, re.IGNORECASE)
_digits = re.compile(r"\d(?:\W{0,3}\d){6}")
_blanks = re.compile(
    r"\[(?:[A-Z][\w ]{1,30}|(?:first|last|your|company|business)[\w ]{0,30})\]|<<?\w[\w .]{1,30}>>?|%\w{3,30}%"
    r"|\*\|\w+\|\*|\$\{\w+\}|\{\{ ?[\w.]+ ?\}\}",
    re.IGNORECASE,
)
_single_braces = re.compile(r"\{[\w.|: ]+\}")


class Severity(enum.StrEnum):
    """The weight of a finding. A text with an `error` cannot be saved; one with `high` is likely to be filtered."""

    error = enum.auto()
    high = enum.auto()
    medium = enum.auto()
    low = enum.auto()


_weights = {severity: weight for weight, severity in enumerate(Severity)}


class RuleId(enum.StrEnum):
    """A rule for texts."""

    placeholder = enum.auto()
    shortener = enum.auto()
    link_host = enum.auto()
    foreign_link = enum.auto()
    many_links = enum.auto()
    capitals = enum.auto()
    pressure = enum.auto()
    restricted = enum.auto()
    no_company_name = enum.auto()
    no_opt_out = enum.auto()
    foreign_phone = enum.auto()
    reserved_reply = enum.auto()
    phishing = enum.auto()
    blank = enum.auto()
    encoding = enum.auto()
    line_ends = enum.auto()
    unused_placeholder = enum.auto()


class Finding(NamedTuple):
    """One finding: the rule, the place in the text (of the whole text where it has none), and what to do."""

    rule: RuleId
    severity: Severity
    text: str
    advice: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sender:
    """The facts about the account that texts are checked against: its name, the hosts it owns, and its phones.

    With `smart_encoding`, characters that it replaces cost nothing.
    """

    company_name: str
    region: str = "US"
    hosts: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()
    smart_encoding: bool = False
    fold_accents: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """A text under check. `shown` has its placeholders blanked, at the same places; `links` are found in that."""

    text: str
    shown: str
    links: list[Link]
    names: frozenset[str]
    sender: Sender
    is_first: bool

    def find(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """Walk over the places of a pattern outside placeholders and links."""
        for found in pattern.finditer(self.shown):
            if not any(link.start <= found.start() < link.end for link in self.links):
                yield found.span()


Place = tuple[int, int]
Found = Iterator[tuple[str, Place]]
"""Sentences and their places."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One check, the severity of what it finds, and what to do about it."""

    id: RuleId
    severity: Severity
    advice: str
    check: Callable[[Checked], Found]


def check(
    text: str, sender: Sender, vocabulary: Vocabulary | None = None, *, is_first_promotional: bool = False
) -> list[Finding]:
    """Return the findings about a text, the most severe first; with a vocabulary it is a text with placeholders.

    `is_first_promotional` asks for an opt-out notice, which the first promotional text to a person needs.
    """
    faults = grammar.check(text, vocabulary) if vocabulary else []
    placeholders = grammar.parse(text).placeholders if vocabulary else []
    shown = _blank(text, [(each.start, each.end) for each in placeholders])
    names = frozenset(each.name for each in placeholders)
    checked = Checked(text, shown, links.find(shown), names, sender, is_first_promotional)
    errors = [
        Finding(RuleId.placeholder, Severity.error, fault.reason, "Correct the placeholder.", fault.start, fault.end)
        for fault in faults
    ]
    found = [
        Finding(rule.id, rule.severity, sentence, rule.advice, *place)
        for rule in (RULES_OF_TEMPLATES if vocabulary else RULES)
        for sentence, place in rule.check(checked)
    ]
    gravest = sorted([*errors, *found], key=lambda each: (_weights[each.severity], each.start))
    return gravest[:MOST_FOUND]


def _blank(text: str, places: list[Place]) -> str:
    for start, end in places:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _whole(checked: Checked) -> Place:
    return 0, len(checked.text)


def _check_shorteners(checked: Checked) -> Found:
    for link in checked.links:
        if link.host.removeprefix("www.") in _shorteners:
            yield f"{link.host} is a public link shortener.", (link.start, link.end)


def _check_hosts(checked: Checked) -> Found:
    for link in checked.links:
        if _address.fullmatch(link.host) or link.host.startswith("["):
            yield f"The link to {link.host} is one to a network address.", (link.start, link.end)
        elif not link.host.isascii() or any(part.startswith("xn--") for part in link.host.split(".")):
            yield f"The host {link.host} has letters that can be taken for others.", (link.start, link.end)


def _check_own_hosts(checked: Checked) -> Found:
    own = checked.sender.hosts
    for link in checked.links:
        host = link.host.removeprefix("www.")
        if own and not any(host == each or host.endswith(f".{each}") for each in own):
            yield f"The link leads to {host}, which is not a host of the account.", (link.start, link.end)


def _check_many_links(checked: Checked) -> Found:
    if len(checked.links) > MOST_LINKS:
        second = checked.links[MOST_LINKS]
        yield f"The text has {len(checked.links)} links.", (second.start, second.end)


def _check_capitals(checked: Checked) -> Found:
    letters = [each for each in _blank(checked.shown, [link[:2] for link in checked.links]) if each.isalpha()]
    capitals = sum(map(str.isupper, letters))
    if len(letters) > MIN_LETTERS and capitals > MOST_CAPITALS * len(letters):
        yield f"{100 * capitals // len(letters)} % of the letters are capitals.", _whole(checked)


def _check_pressure(checked: Checked) -> Found:
    found = list(checked.find(_pressure))
    if len(found) > MOST_PRESSURE:
        said = ", ".join(dict.fromkeys(checked.text[slice(*place)].lower() for place in found))
        yield f"The text has {len(found)} words or signs that spam filters count: {said}.", found[0]


def _check_restricted(checked: Checked) -> Found:
    for category, pattern in _restricted.items():
        for place in checked.find(pattern):
            yield f"{checked.text[slice(*place)]} belongs to {category}, which carriers restrict.", place


def _check_company(checked: Checked) -> Found:
    name = checked.sender.company_name
    named = name.casefold() in checked.text.casefold() or "company_name" in checked.names
    if name and not named:
        yield f"The text does not name the sender, {name}.", _whole(checked)


def _check_opt_out(checked: Checked) -> Found:
    if checked.is_first and not _opt_out.search(checked.shown):
        yield (
            "The text does not say how to opt out, which the first promotional text to a person must.",
            _whole(checked),
        )


def _check_phones(checked: Checked) -> Found:
    if not checked.sender.phones or not _digits.search(checked.shown):
        return
    shown = _blank(checked.shown, [link[:2] for link in checked.links])
    for found in phonenumbers.PhoneNumberMatcher(shown, checked.sender.region):
        phone = phonenumbers.format_number(found.number, phonenumbers.PhoneNumberFormat.E164)
        if phone not in checked.sender.phones:
            yield f"{found.raw_string} is not a number of the account.", (found.start, found.end)


def _check_reserved(checked: Checked) -> Found:
    for found in reserved_replies.find(checked.shown):
        yield f"The text asks for the reply {found.word}, which {found.act}.", (found.start, found.end)


def _check_phishing(checked: Checked) -> Found:
    for place in checked.find(_phishing):
        yield f"“{checked.text[slice(*place)]}” looks like a text that asks for credentials.", place


def _check_blanks(checked: Checked) -> Found:
    for place in checked.find(_blanks):
        yield f"{checked.text[slice(*place)]} is not a placeholder, and is not filled in.", place


def _check_encoding(checked: Checked) -> Found:
    """Find the characters that cost parts: those that smart encoding replaces, else a single one that it cannot."""
    folds = checked.sender.fold_accents
    costly = smart_encoding.find_costly(checked.text, fold_accents=folds)
    replaced = [each for each in costly if each.replacement is not None]
    cheaper = smart_encoding.encode(checked.text, fold_accents=folds)
    is_done = checked.sender.smart_encoding and cheaper != checked.text
    if not replaced or cheaper == checked.text:
        replaced = costly
        cheaper = checked.text.replace(costly[0].character, "") if len(costly) == 1 else checked.text
    before, after = sms_parts.count(checked.text).segments, sms_parts.count(cheaper).segments
    if after < before and not is_done:
        characters = " ".join(each.character for each in replaced)
        start = replaced[0].positions[0]
        yield f"Parts: {before} because of {characters}, {after} without.", (start, start + 1)


def _check_line_ends(checked: Checked) -> Found:
    count = checked.text.count("\r\n")
    if count and sms_parts.count(checked.text.replace("\r\n", "\n")).segments < sms_parts.count(checked.text).segments:
        place = checked.text.index("\r\n")
        yield "The text has line ends of two characters, which cost a part.", (place, place + 2)


def _check_single_braces(checked: Checked) -> Found:
    for place in checked.find(_single_braces):
        yield f"{checked.text[slice(*place)]} is sent as it is written: this text has no placeholders.", place


RULES_OF_TEMPLATES = (
    Rule(RuleId.shortener, Severity.high, "Link to your own host; shared shorteners are blocked.", _check_shorteners),
    Rule(RuleId.link_host, Severity.high, "Link to a plain name of your own.", _check_hosts),
    Rule(RuleId.foreign_link, Severity.medium, "Link to a host that recipients know as yours.", _check_own_hosts),
    Rule(RuleId.many_links, Severity.medium, "Keep one link.", _check_many_links),
    Rule(RuleId.capitals, Severity.medium, "Write in sentence case.", _check_capitals),
    Rule(RuleId.pressure, Severity.medium, "Say it plainly, with one such word at most.", _check_pressure),
    Rule(RuleId.restricted, Severity.high, "Ask your carrier whether it allows this content.", _check_restricted),
    Rule(
        RuleId.no_company_name,
        Severity.low,
        "Begin with {company_name}, to name the sender.",
        _check_company,
    ),
    Rule(RuleId.no_opt_out, Severity.high, "End with: Reply STOP to opt out.", _check_opt_out),
    Rule(RuleId.foreign_phone, Severity.medium, "Name a number of the account.", _check_phones),
    Rule(RuleId.reserved_reply, Severity.high, "Ask for another word, such as CHANGE or NO.", _check_reserved),
    Rule(RuleId.phishing, Severity.high, "Ask for no credentials; send people to your own site.", _check_phishing),
    Rule(RuleId.blank, Severity.high, "Use a placeholder such as {first_name}, or write the value.", _check_blanks),
    Rule(RuleId.encoding, Severity.medium, "Replace or remove the character, or use smart encoding.", _check_encoding),
    Rule(RuleId.line_ends, Severity.low, "End lines with a line feed alone.", _check_line_ends),
)
"""The checks of a text with placeholders."""

RULES = (
    *RULES_OF_TEMPLATES,
    Rule(RuleId.unused_placeholder, Severity.medium, "Write the value.", _check_single_braces),
)
"""The checks of a text that is sent as it is."""
