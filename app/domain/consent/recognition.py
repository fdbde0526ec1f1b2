"""Recognition of opt-outs, opt-ins and requests for help in inbound messages.

A missed opt-out breaks the law (47 CFR 64.1200(a)(10): any reasonable manner counts); a wrongly recognized one loses a
subscriber. Clear cases are therefore decided here, and doubtful ones are held for a person.
"""

import enum
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase, digits

from app.domain.consent import words
from app.domain.kernel.sms_parts import MAX_LENGTH

HOLD_LENGTH = 40
"""The longest message, in code points, that is held because it begins with a keyword in small letters."""

KEYWORD_LENGTH = 32


class IntentKind(enum.StrEnum):
    """The intent of an inbound message."""

    none = enum.auto()
    opt_out = enum.auto()
    opt_in = enum.auto()
    help = enum.auto()
    review = enum.auto()
    wrong_number = enum.auto()


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent of a message, and the keyword (in capitals) or phrase (at most 32 characters) that shows it."""

    kind: IntentKind
    keyword: str = ""
    reason: str = ""


NOTHING = Intent(IntentKind.none)

APOSTROPHES = "'’‘‛`´ʼʹ′＇"
CLAUSE_BREAKS = ".!?;:,|()[]{}<>/\n\r…—–¡¿。、،؟।"
STOP_SIGNS = frozenset("🛑⛔🚫🖕")

_apostrophes = str.maketrans("", "", APOSTROPHES)
_link = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_bare_number_sign = re.compile(r"#(?!\w)")
_reaction = re.compile(
    r"\W{0,4}(?:(?:liked|loved|disliked|laughed at|emphasized|questioned|reacted\b.{1,20}|removed\b.{1,30}) [“\"].*"
    r"|(?!.*\bI\b)(?=[^“]*\w)[^“]{1,20}“.{20,}”\W*)",
    re.IGNORECASE | re.DOTALL,
)
_quotation_mark = re.compile('[“"]')
_break = re.compile(r"\s*\|[\s|]*")
_word = re.compile(r"[\w\u0300-\u036f\u200b-\u200d\u2060\ufeff]+")
_latin = re.compile(r"[A-Za-z]")
_cyrillic_or_greek = re.compile(r"[\u0370-\u052f]")
_long_run = re.compile(r"([a-z])\1{2,}")


def normalize(body: str) -> str:
    """Return the words of a text in lower case, without accents, emoji and signs; ` | ` separates clauses.

    This is Unicode's compatibility caseless match (D146), extended by the removal of accents.
    """
    text = _bare_number_sign.sub(" number ", _link.sub(" ", body)).translate(_apostrophes)
    for _ in range(2):
        text = unicodedata.normalize("NFKD", text).casefold()
    text = unicodedata.normalize("NFC", "".join(map(_plain, text)))
    return _tidy(_long_run.sub(r"\1", text))


@lru_cache(4096)
def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if character in APOSTROPHES or category in ("Mn", "Me", "Cf"):
        return ""
    if character in CLAUSE_BREAKS:
        return "|"
    return character if category[0] in "LMN" else " "


def _tidy(text: str) -> str:
    return " ".join(_break.sub(" | ", text).split()).strip(" |")


def _joined(text: str) -> str:
    """Return a text without spaces, so that `opt-out`, `OPT OUT` and `o.p.t.o.u.t` are one word."""
    return text.replace(" ", "").replace("|", "")


def _vocabulary(*lists: str) -> frozenset[str]:
    return frozenset(_joined(normalize(word)) for listed in lists for word in listed.split())


def _edits(word: str) -> set[str]:
    """Return every word at one insertion, deletion, substitution or transposition from this one."""
    splits = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    mails = ascii_lowercase + digits
    return {
        *(head + tail[1:] for head, tail in splits if tail),
        *(head + tail[1] + tail[0] + tail[2:] for head, tail in splits if len(tail) > 1),
        *(head + mail + tail[1:] for head, tail in splits if tail for mail in mails),
        *(head + mail + tail for head, tail in splits for mail in mails),
    }


ENGLISH = frozenset(words.OPT_OUT_WORDS["en"].split())
OPT_OUT = _vocabulary(*words.OPT_OUT_WORDS.values())
STRONG = _vocabulary(words.STRONG_WORDS)
OPT_IN = _vocabulary(words.OPT_IN_WORDS)
RETURN = _vocabulary(words.RETURN_WORDS)
CONFIRM = _vocabulary(words.CONFIRM_WORDS)
HELP = _vocabulary(words.HELP_WORDS)
REAL_WORDS = _vocabulary(words.REAL_WORDS, words.RETURN_WORDS) | OPT_OUT
TYPOS = {word: _edits(word) - REAL_WORDS for word in words.TYPO_WORDS.split()}
ONE_WORD_TYPOS = frozenset[str]().union(*TYPOS.values())
TWO_WORD_TYPOS = frozenset(TYPOS["stopall"] | TYPOS["optout"] | TYPOS["unsubscribe"])

_fillers_before = re.compile(rf"^(?:(?:{words.FILLERS})\b[ |]*)+")
_fillers_after = re.compile(rf"(?:(?:^|[ |]+)(?:{words.FILLERS})\b){{1,9}}$")
_dismissals_before = re.compile(rf"^(?:(?:{words.DISMISSALS}|{words.FILLERS})\b[ |]*)+")
_dismissals_after = re.compile(rf"(?:[ |]+(?:{words.DISMISSALS}|{words.FILLERS})\b){{1,9}}$")
_noise = re.compile(rf"\b(?:{words.NOISE})\b")
_long_word = re.compile(r"\w{8,}")

_instruction = re.compile(rf"\b(?:{words.INSTRUCTIONS})")
_hold_word = re.compile(words.HOLD_WORDS)
_demand_alone = re.compile(words.DEMANDS_ALONE)
_hold = re.compile(rf"\b(?:{words.HOLDS})")
_begins_with_keyword = re.compile(rf"(?:{words.BEGINNINGS})\b(?! (?:{words.INNOCENT_STOPS})\b)")
_begins_with_capitals = re.compile(r"\W*STOP\b")
_ends_with_capitals = re.compile(r"\bSTOP\W*$")
_wrong_number = re.compile(words.WRONG_NUMBERS)
_wrong_number_said = re.compile(
    rf"(?:\b(?>(?:{words.FILLERS})\b[ |]+|(?:{words.BEFORE_WRONG_NUMBER}) )){{0,9}}(?:{words.WRONG_NUMBERS})"
    rf"(?:[ |]*(?>(?:{words.AFTER_WRONG_NUMBER}|{words.DISMISSALS}|{words.FILLERS})\b)){{0,9}}"
)
_unspaced = re.compile("|".join(sorted(word for word in OPT_OUT if not word.isascii())))
_own_mistake = re.compile(words.OWN_MISTAKES)
_denial = re.compile(words.DENIALS)
_reproach = re.compile(words.REPROACHES)
_complaint = re.compile(words.COMPLAINTS)
_finality = re.compile(words.FINALITY)
_never = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Rule:
    """Phrases that demand an opt-out, unless `exempted` matches before them; held if `softened` matches after them."""

    phrases: re.Pattern[str]
    exempted: re.Pattern[str] = _never
    softened: re.Pattern[str] = _never


RULES = (
    Rule(re.compile(rf"\b(?:{words.ORDERS})"), re.compile(words.SAID_OF_ANOTHER), re.compile(words.CONDITIONS)),
    Rule(re.compile(rf"\b(?:{words.DEMANDS})")),
    Rule(
        re.compile(rf"\b(?:{words.PROHIBITIONS})"),
        softened=re.compile(f"{words.CONDITIONS}|{words.ALTERNATIVES}"),
    ),
    Rule(re.compile(words.DEMANDS_ABROAD)),
)


def classify(body: str, *, opted_out: bool = False, opt_in_pending: bool = False) -> Intent:
    """Return the intent of a message. YES is consent only after an opt-out or while a confirmation is awaited.

    The first match decides: a keyword alone, a typing error of one, a demand in other words, a wrong number without a
    possible demand, and a possible demand that a person must review (`review`).
    """
    body = _word.sub(_unmasked, body[:MAX_LENGTH].strip())
    text = normalize(body)
    if not text:
        return Intent(IntentKind.review, reason="sign") if STOP_SIGNS & set(body) else NOTHING
    if _reaction.fullmatch(body):
        return _said_before_quote(body) or NOTHING
    loose = _tidy(_noise.sub(" ", text))
    alone = _without_fillers(loose)
    loose = _long_word.sub(_corrected, loose)
    asked = _tidy(_instruction.sub("", loose))
    return (
        _keyword(alone)
        or _other_keyword(_joined(alone), returning=opted_out or opt_in_pending, confirming=opt_in_pending)
        or _typo(alone)
        or _instructed(loose)
        or _demanded(asked)
        or _demanded_alone(alone)
        or _wrong(body, loose, asked)
        or _doubt(body, alone, asked)
        or NOTHING
    )


def is_reaction(body: str) -> bool:
    """Return whether a message is only a tapback on one of ours, such as `Liked "..."`."""
    return bool(_reaction.fullmatch(body)) and _said_before_quote(body) is None


def _said_before_quote(body: str) -> Intent | None:
    """Return the intent of the words before the text of ours that a message quotes, if they say to stop.

    A tapback in another language has the same form as `Stop sending “...”`. A weak word may be about what is quoted.
    """
    intent = classify(_quotation_mark.split(body, 1)[0])
    if intent.reason == "keyword" and intent.keyword.lower() not in STRONG and intent.kind is IntentKind.opt_out:
        return _held(intent.keyword.lower())
    return intent if intent.kind in (IntentKind.opt_out, IntentKind.review, IntentKind.wrong_number) else None


def _unmasked(word: re.Match[str]) -> str:
    """Return a word with look-alikes of Latin letters replaced, if it has Latin letters too or hides a keyword."""
    plain = word[0].translate(words.LOOK_ALIKES)
    if plain == word[0] or _cyrillic_or_greek.search(plain):
        return word[0]
    return plain if _latin.search(word[0]) or plain.lower() in ENGLISH else word[0]


def _keyword(alone: str) -> Intent | None:
    several = alone.replace("|", " ").split()
    beside = _joined(_dismissals_after.sub("", _dismissals_before.sub("", alone)))
    if _joined(alone) in OPT_OUT:
        word = _joined(alone)
    elif several and OPT_OUT.issuperset(several):
        word = several[0]
    elif beside in STRONG:
        word = beside
    else:
        return None
    return Intent(IntentKind.opt_out, word.upper(), "keyword")


def _other_keyword(word: str, *, returning: bool, confirming: bool) -> Intent | None:
    if word in OPT_IN or (returning and word in RETURN) or (confirming and word in CONFIRM):
        return Intent(IntentKind.opt_in, word.upper(), "keyword")
    return Intent(IntentKind.help, word.upper(), "keyword") if word in HELP else None


def _typo(alone: str) -> Intent | None:
    typos = {0: ONE_WORD_TYPOS, 1: TWO_WORD_TYPOS}.get(alone.count(" "), frozenset[str]())
    return Intent(IntentKind.opt_out, _phrase(alone), "typo") if _joined(alone) in typos else None


def _corrected(word: re.Match[str]) -> str:
    return "unsubscribe" if word[0] in TYPOS["unsubscribe"] and word[0] != "unsubscribed" else word[0]


def _instructed(loose: str) -> Intent | None:
    """Return the opt-out of a message that repeats our instruction, such as "reply STOP to unsubscribe"."""
    return Intent(IntentKind.opt_out, _phrase(loose), "intent") if _instruction.fullmatch(loose) else None


def _demanded(text: str) -> Intent | None:
    return next(filter(None, (_intent(rule, text) for rule in RULES)), None)


def _demand(clause: str) -> Intent | None:
    return _demanded(clause) or _demanded_alone(clause)


def _demanded_alone(alone: str) -> Intent | None:
    """Return the opt-out of a message that says nothing else, such as "revoke it"; dismissals do not weaken it."""
    for text in (alone, _dismissals_after.sub("", _dismissals_before.sub("", alone))):
        if _demand_alone.fullmatch(text):
            return Intent(IntentKind.opt_out, _phrase(text), "intent")
    return None


def _intent(rule: Rule, text: str) -> Intent | None:
    for found in rule.phrases.finditer(text):
        before = _clause_before(text, found)
        kind = IntentKind.none if rule.exempted.search(before) else _weight(before)
        if kind is IntentKind.opt_out and _is_softened(rule, text, found):
            kind = IntentKind.review
        if kind is not IntentKind.none:
            return _held(found[0]) if kind is IntentKind.review else Intent(kind, _phrase(found[0]), "intent")
    return None


def _weight(before: str) -> IntentKind:
    """Return the kind of intent of a demand after these preceding words of its clause."""
    if not _denial.search(before) or _reproach.search(before):
        return IntentKind.opt_out
    return IntentKind.review if _complaint.search(before) else IntentKind.none


def _is_softened(rule: Rule, text: str, found: re.Match[str]) -> bool:
    final = _finality.search(text, found.start(), found.end() + len(" any more"))
    return final is None and bool(rule.softened.search(text, found.end()))


def _wrong(body: str, loose: str, asked: str) -> Intent | None:
    for found in _wrong_number.finditer(loose):
        if not _own_mistake.search(_clause_before(loose, found)):
            wrong = Intent(IntentKind.wrong_number, _phrase(found[0]), "wrong_number")
            return _demanded_beside(body, loose, asked) or wrong
    return None


def _demanded_beside(body: str, loose: str, asked: str) -> Intent | None:
    """Return the demand in a message that also reports a wrong number, which does not weaken the demand."""
    rest = _tidy(_wrong_number_said.sub(" | ", asked))
    others = " | ".join(clause for clause in loose.split(" | ") if not _wrong_number.search(clause))
    return (
        _keyword(_without_fillers(rest))
        or _keyword(_without_fillers(others))
        or _demanded(rest)
        or _demanded_alone(_without_fillers(rest))
        or _doubt(body, _without_fillers(rest), rest)
        or (_held(loose) if STOP_SIGNS & set(body) or _names_an_end(loose, rest) else None)
    )


def _names_an_end(loose: str, rest: str) -> bool:
    """Return whether a text contains a keyword anywhere, or a clause of `rest` is a mistyped or paraphrased one."""
    several = loose.replace("|", " ").split()
    runs = ("".join(several[at : at + length]) for at in range(len(several)) for length in range(1, 5))
    clauses = [_without_fillers(clause) for clause in rest.split(" | ")]
    return (
        not OPT_OUT.isdisjoint(runs)
        or _unspaced.search(loose) is not None
        or any(_typo(clause) or _hold_word.fullmatch(clause) or _demand(clause) for clause in clauses)
    )


def _doubt(body: str, alone: str, asked: str) -> Intent | None:
    if _hold_word.fullmatch(alone) or _goes_on(body, alone):
        return _held(alone)
    clauses = asked.split(" | ")
    if not STRONG.isdisjoint(_joined(_without_fillers(clause)) for clause in (clauses[0], clauses[-1])):
        return _held(asked)
    found = _hold.search(asked)
    return _held(found[0]) if found else None


def _goes_on(body: str, alone: str) -> bool:
    """Return whether a keyword begins a longer text; in capitals at any length, and also at the end."""
    if _begins_with_keyword.match(alone):
        return len(body) <= HOLD_LENGTH or bool(_begins_with_capitals.match(body))
    return bool(_ends_with_capitals.search(body)) and not body.isupper()


def _without_fillers(text: str) -> str:
    return _fillers_after.sub("", _fillers_before.sub("", text))


def _clause_before(text: str, found: re.Match[str]) -> str:
    return text[: found.start()].rpartition("|")[2]


def _held(phrase: str) -> Intent:
    return Intent(IntentKind.review, _phrase(phrase), "possible_opt_out")


def _phrase(text: str) -> str:
    return text[:KEYWORD_LENGTH].strip(" |")
