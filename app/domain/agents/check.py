"""Checks of the texts that writers return."""

import re
import unicodedata

from app.domain.agents.writer import Brief
from app.domain.kernel.sms_parts import MAX_LENGTH

OPT_OUT = re.compile(r"\b(?:reply|text|send)\s+[\"']?stop\b", re.IGNORECASE)
PLACEHOLDER = "{first_name}"

_BLANK = re.compile(r"\{[^{}]*\}|[{}]|\[[^\[\]]*\]")
_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\"'“”‘’—…]+|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\b(?:/[^\s—…]*)?")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_PRICE = re.compile(r"[$€£¥]\s?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*\s?(?:%|[€£¥]|percent\b|dollars?\b|euros?\b)")
_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|dozen"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|today|tonight|tomorrow|weekend"
    r"|(?<!feel )free|complimentary|discount|refund|guaranteed?)\b"
)
_KEYWORD = re.compile(r"\b(?:[Rr]eply|[Tt]ext|[Ss]end)\s+(?:with\s+)?[\"']?([A-Z]{1,12})\b")


def faults(candidate: str, brief: Brief) -> list[str]:
    """Return the faults of a candidate, a sentence each; an empty list for an acceptable one.

    It must fit in one message, contain an opt-out notice and no placeholder but `{first_name}`, and state no number,
    price, date, link, promise or reply keyword that is not in the brief.
    """
    known = _facts(brief.description) | _facts(brief.company_name)
    return [
        *_form(candidate, f"{brief.description} {brief.company_name}"),
        *(f"It states {fact!r}, which the brief does not." for fact in _facts(candidate) if fact not in known),
    ]


def _form(candidate: str, source: str) -> list[str]:
    found: list[str] = []
    if len(candidate) > MAX_LENGTH:
        found.append(f"It has {len(candidate)} characters; the limit is {MAX_LENGTH}.")
    if not OPT_OUT.search(candidate):
        found.append("It does not say how to opt out.")
    for blank in _BLANK.findall(candidate.replace(PLACEHOLDER, "")):
        if blank[0] in "{}" or "[" not in source:
            found.append(f"It has a blank that nothing fills: {blank}.")
    keywords = {word for word in _KEYWORD.findall(candidate) if word not in ("STOP", "HELP")}
    found += [f"It asks for the reply {word}, which the brief does not." for word in sorted(keywords - _said(source))]
    return found


def _said(source: str) -> set[str]:
    return set(re.findall(r"\w+", source.upper()))


def _facts(text: str) -> dict[str, None]:
    """Return the links, prices, numbers, dates and promises of a text, in one spelling."""
    text = _spelled(text)
    links = [_bare(link) for link in _LINK.findall(text)]
    text = _LINK.sub(" ", text)
    prices = [re.sub(r"[\s,]", "", price) for price in _PRICE.findall(text)]
    numbers = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return dict.fromkeys([*links, *prices, *numbers, *_WORDS.findall(text)])


def _spelled(text: str) -> str:
    characters = map(_spelling, unicodedata.normalize("NFKC", text))
    return " ".join("".join(characters).lower().split())


def _spelling(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category in ("Cc", "So") or character == "\ufe0f" else character


def _bare(link: str) -> str:
    return re.sub(r"^(?:https?://)?(?:www\.)?|[\W_]+$", "", link)
