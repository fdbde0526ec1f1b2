"""Checks of the texts that writers return."""

import re
import unicodedata

from app.domain.kernel.sms_parts import MAX_LENGTH, count
from app.domain.writing.writer import Brief, Kind

OPT_OUT = re.compile(r"\b(?:reply|text|send)\s+[\"']?stop\b", re.IGNORECASE)

_BLANK = re.compile(r"\{[^{}]*\}|[{}]|\[[^\[\]]*\]")
_PLACEHOLDER = re.compile(r"\{[\w.]++(?::[^{}|]*+)?\|?([^{}]*+)\}")
_LINK = re.compile(
    r"(?:https?://|www\.)[^\s<>\"'“”‘’—…]+"
    r"|(?<![a-z0-9-])(?<![a-z0-9-]\.)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\b(?:/[^\s—…]*)?"
)
"""A host begins where no longer one can, so that the time grows with the length of a text, not with its square."""

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_PRICE = re.compile(
    r"[$€£¥]\s?\d+(?:[.,]\d+)*|(?<!\d)(?<!\d[.,])\d++(?:[.,]\d++)*+\s?(?:%|[€£¥]|percent\b|dollars?\b|euros?\b)"
)
_SIGNS = {"dollar": "$", "euro": "€", "percent": "%"}
_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|dozen"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|today|tonight|tomorrow|weekend"
    r"|noon|midnight|half[- ]price|cashback|voucher|coupon"
    r"|(?<!feel )free|complimentary|discount(?:s|ed)?|refund(?:s|ed)?|guarantee[ds]?"
    r"|lunes|martes|miércoles|jueves|viernes|sábado|domingo|mañana|gratis|descuento|garantizado"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|demain|gratuit|remise"
    r"|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|kostenlos|rabatt)\b"
)
_KEYWORD = re.compile(r"\b(?:[Rr]eply|[Tt]ext|[Ss]end)\s+(?:with\s+)?[\"']?([A-Z]{1,12})\b")


def faults(candidate: str, brief: Brief) -> list[str]:
    """Return the faults of a candidate, a sentence each; an empty list for an acceptable one.

    It must fit in the length and parts of the brief, contain an opt-out notice if one is needed, only placeholders that
    are known or that the brief has, and state no number, price, date, link, promise or reply keyword that is not in the
    sources of the brief.
    """
    known = {fact for source in brief.sources for fact in _facts(source)}
    return [
        *_form(candidate, brief),
        *(f"It states {fact!r}, {_absent(brief)}." for fact in _facts(candidate) if fact not in known),
    ]


def _form(candidate: str, brief: Brief) -> list[str]:
    found: list[str] = []
    if not candidate.strip():
        found.append("It is empty.")
    if len(text := brief.opened(candidate)) > MAX_LENGTH:
        found.append(f"It has {len(text)} characters; the limit is {MAX_LENGTH}.")
    elif (parts := count(text).segments) > brief.max_parts:
        found.append(f"It takes {parts} SMS parts; the limit is {brief.max_parts}.")
    if brief.needs_opt_out and not OPT_OUT.search(candidate):
        found.append("It does not say how to opt out.")
    return [*found, *_blanks(candidate, brief), *_keywords(candidate, brief)]


def _blanks(candidate: str, brief: Brief) -> list[str]:
    source = " ".join(brief.sources)
    return [
        f"It has a blank that is not filled in: {blank}."
        for blank in _BLANK.findall(candidate)
        if not _is_filled(blank, brief.placeholders) and not (blank in source and len(blank) > 1)
        if blank[0] in "{}" or "[" not in source
    ]


def _is_filled(blank: str, placeholders: frozenset[str]) -> bool:
    return blank[0] == "{" and re.split(r"[:|]", blank[1:-1])[0].strip() in placeholders


def _keywords(candidate: str, brief: Brief) -> list[str]:
    keywords = {word for word in _KEYWORD.findall(candidate) if word not in ("STOP", "HELP")}
    unsaid = sorted(keywords - _said(" ".join(brief.sources)))
    return [f"It asks for the reply {word}, {_absent(brief)}." for word in unsaid]


def _absent(brief: Brief) -> str:
    return "which is not in the knowledge" if brief.kind is Kind.reply else "which the brief does not"


def _said(source: str) -> set[str]:
    return set(re.findall(r"\w+", source.upper()))


def _facts(text: str) -> dict[str, None]:
    """Return the links, prices, numbers, dates and promises of a text, in one spelling."""
    text = _spelled(_PLACEHOLDER.sub(r" \1 ", text))
    links = [_bare(link) for link in _LINK.findall(text)]
    text = _LINK.sub(" ", text)
    prices = [_sign(re.sub(r"[\s,]", "", price)) for price in _PRICE.findall(text)]
    numbers = [number.replace(",", "") for number in _NUMBER.findall(text)]
    return dict.fromkeys([*links, *prices, *numbers, *_WORDS.findall(text)])


def _sign(price: str) -> str:
    """Return a price or a percentage in one spelling: `80dollars` is `$80`, and `20percent` is `20%`."""
    amount = "".join(character for character in price if character in "0123456789.")
    unit = price.replace(amount, "").rstrip("s")
    sign = _SIGNS.get(unit, unit)
    return f"{amount}{sign}" if sign == "%" else f"{sign}{amount}"


def _spelled(text: str) -> str:
    characters = map(_spelling, unicodedata.normalize("NFKC", text))
    return " ".join("".join(characters).lower().split())


def _spelling(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category in ("Cc", "So") or character == "\ufe0f" else character


def _bare(link: str) -> str:
    """Return a link without its scheme, `www.`, and the punctuation around it."""
    bare = re.sub(r"^-*(?:https?://)?(?:www\.)?", "", link)
    return bare[: next((end for end in range(len(bare), 0, -1) if bare[end - 1].isalnum()), 0)]
