"""The writer without an AI: it fills patterns with the facts of a brief. Its replies are answers of the FAQ."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import islice

from app.domain.kernel import smart_encoding, sms_parts
from app.domain.writing.checking import faults
from app.domain.writing.errors import BriefNotUnderstood
from app.domain.writing.writer import ANSWERED, Brief, Kind, Written

NO_ANSWER = "No question of the FAQ is close enough to the message."
OPT_OUT = "Reply STOP to opt out."
GREETINGS = ("Hi {{first_name}}, it's {}.", "Hello {{first_name}}, this is {}.", "Hey {{first_name}}, {} here.")
CLOSINGS = ("", "Thank you!", "Have a great day!")
LONGEST_NAME = 60

_PEOPLE = (
    r"(?:(?:all|our|my|your|the|past|existing|current|new|loyal|vip)\s+)*(?:attendees|buyers|clients?|contacts?|customers?"
    r"|donors|everyone|families|fans|guests?|homeowners|leads|members?|owners|parents|patients?|people|residents|shoppers"
    r"|students?|subscribers|team|tenants|users|volunteers|them|you)"
)
_PLAIN_TONE = r"(?:short|brief|friendly|polite|simple|warm|quick|kind|nice)"
_FRAME = re.compile(
    r"(?:please\s+)?(?:write|create|draft|compose|generate|prepare|send)\s+(?:me\s+|us\s+)?(?:an?|the|our)?\s*"
    rf"(?:{_PLAIN_TONE},?\s+(?:and\s+)?)*(?:sms\s+|text\s+)?"
    r"(?P<kind>reminder|announcement|invitation|thank[- ]you|confirmation|apology|sms|text|message|note)"
    rf"(?:\s+(?:sms|text|message|note))?(?:\s+(?:to|for)\s+{_PEOPLE}\b)?\s*"
    r"(?P<link>:|(?:about|for|on|regarding|of|that\s+says|saying|to)\b|(?=\w+ing\b))\s*",
    re.IGNORECASE,
)
_NEWS = ("we'd like to tell you about {x}.", "we're happy to share {x}.", "here's some news about {x}.")
_ABOUT = ("a quick reminder about {x}.", "please remember {x}.", "this is a friendly reminder about {x}.")
_INVITED = ("you're invited to {x}.", "we'd like to invite you to {x}.", "please join us. You're invited to {x}.")
_THANKS = ("thank you for {x}!", "thanks for {x}!", "we'd like to thank you for {x}.")
_CONFIRM = ("this is to confirm {x}.", "just confirming {x}.", "we're confirming {x}.")
_SORRY = ("we're sorry for {x}.", "we apologize for {x}.", "please accept our apologies for {x}.")
_SAID = ("{x}.", "just so you know: {x}.", "a quick note: {x}.")
_BY_KIND = {
    "reminder": _ABOUT,
    "invitation": _INVITED,
    "thank-you": _THANKS,
    "confirmation": _CONFIRM,
    "apology": _SORRY,
}
_DIRECTIVES: tuple[tuple[re.Pattern[str], Sequence[str]], ...] = tuple(
    (re.compile(rf"(?:to\s+)?(?:{verb})\s+(?P<x>.+)", re.IGNORECASE), patterns)
    for verb, patterns in (
        (rf"remind(?:ing)?\s+{_PEOPLE}\s+(?:about|of)", _ABOUT),
        (
            rf"remind(?:ing)?\s+{_PEOPLE}\s+to",
            ("a quick reminder to {x}.", "please remember to {x}.", "don't forget to {x}."),
        ),
        (
            rf"remind(?:ing)?\s+{_PEOPLE}\s+that",
            ("a quick reminder that {x}.", "please remember that {x}.", "just a reminder: {x}."),
        ),
        (rf"invit(?:e|ing)\s+{_PEOPLE}\s+to", _INVITED),
        (rf"thank(?:ing)?\s+{_PEOPLE}\s+for", _THANKS),
        (rf"apologi[sz](?:e|ing)\s+(?:to\s+{_PEOPLE}\s+)?for", _SORRY),
        (
            rf"ask(?:ing)?\s+(?:{_PEOPLE}\s+)?for",
            ("could we ask you for {x}?", "we'd be grateful for {x}.", "we'd love to get {x}."),
        ),
        (rf"ask(?:ing)?\s+{_PEOPLE}\s+to", ("could you {x}?", "would you please {x}?", "please {x}.")),
        (
            rf"ask(?:ing)?\s+{_PEOPLE}\s+(?:if|whether)",
            ("please let us know if {x}.", "we'd like to know if {x}.", "could you tell us if {x}?"),
        ),
        (
            rf"follow(?:ing)?[ -]up\s+(?:with\s+{_PEOPLE}\s+)?(?:about|on)",
            ("we're following up about {x}.", "just checking in about {x}.", "a quick follow-up about {x}."),
        ),
        (
            rf"welcom(?:e|ing)\s+{_PEOPLE}\s+to",
            ("welcome to {x}!", "we're glad to welcome you to {x}.", "a warm welcome to {x}!"),
        ),
        (
            rf"wish(?:ing)?\s+{_PEOPLE}",
            ("we wish you {x}!", "all of us wish you {x}!", "our team wishes you {x}!"),
        ),
        (
            rf"offer(?:ing)?(?!\s+(?:ends|ended|expires|valid|is)\b)(?:\s+{_PEOPLE})?",
            ("we're offering you {x}.", "we have an offer for you: {x}.", "we'd like to offer you {x}."),
        ),
        (rf"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?)\s+{_PEOPLE}\s+about", _NEWS),
        (
            rf"(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|let(?:ting)?)\s+{_PEOPLE}(?:\s+know)?(?:\s+that)?",
            ("{x}.", "just letting you know that {x}.", "please note that {x}."),
        ),
        (r"confirm(?:ing)?(?:\s+that)?", _CONFIRM),
        (r"(?:announc|promot|advertis|introduc)(?:e|ing)", _NEWS),
    )
)
_JOINT = re.compile(r",?\s+and\s+(?=(?:ask|tell|invite|remind|thank|offer)\s)")
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bSt\.)(?<!\bNo\.)\s+(?=[^a-z])")
_ADDED = re.compile(r"(?:mention|add|say|note|state)\s+that\s+(?P<x>.+)", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?:please\s+)?(?:(?:re)?write|create|draft|compose|generate|craft|translate|produce|design|come up with|act as"
    r"|pretend|imagine|ignore|suggest|rephrase|improve|shorten|summari[sz]e|include|mention|add|avoid|use|keep|be"
    r"|sound|make (?:it|this|them|me|sure|the)|(?:give|help|tell|show) (?:me|us)|i(?:'d)? (?:want|need|like)"
    r"|we (?:want|need)|you are|announce|remind|invite|thank|apologi[sz]e|ask|follow[ -]up|welcome|wish|inform|notify"
    r"|tell|let|promote|congratulate|encourage|convince|persuade|explain|describe|how|what|why|which|can|could|should"
    r"|would)\b",
    re.IGNORECASE,
)
_STYLE = re.compile(
    r"\b(?:make (?:it|this|them) |funny|humou?r\w*|witty|sarcas\w+|jokes?\b|poem|rhym\w+|haiku|emojis?|hashtags?"
    r"|translat\w+|sounds? like|as if\b|in (?:spanish|french|german|italian|portuguese|polish|dutch|chinese)\b"
    r"|(?:in|with|use) an? [\w-]+ (?:tone|voice|style)|(?:under|within|at most|max\w*) \d+ (?:char|word|segment)"
    r"|(?:catchy|engaging|persuasive|creative|urgent|professional|formal|casual) (?:text|sms|message|copy|tone|one))",
    re.IGNORECASE,
)
_OTHER_LANGUAGE = re.compile(
    r"\b(?:los|las|una|para|por|del|les|des|pour|une|avec|der|das|und|für|mit|uma|não|della|per)\b"
)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|dear)\b(?:\s+(?:there|all|everyone|\{first_name\}))?[,!.:]?\s+", re.IGNORECASE
)
_NOTICE = re.compile(r"\s*\b(?:reply|text)\s+[\"']?stop\b[\"']?[^.!?]*[.!?]?", re.IGNORECASE)
_TO_YOU = {
    "they": "you",
    "them": "you",
    "their": "your",
    "they're": "you're",
    "they've": "you've",
    "themselves": "yourself",
}
_SMALL = re.compile(
    r"(?:a|an|the|our|your|we|we're|we've|you|you're|this|these|there|it's|it|if|when|all|please|don't|free|new|open|buy"
    r"|get|save|enjoy|come|join|book|call|visit|see|last|first|early|for|on|in|at|from|doors|prices|tickets)\b(?!\.)",
    re.IGNORECASE,
)


class TemplateWriter:
    """Writes texts deterministically from the facts of a brief."""

    provider = "template"
    model: str | None = None

    def check(self, brief: Brief) -> None:
        """Raise `BriefNotUnderstood` unless its sentences are facts and known instructions, and a text has no fault."""
        if brief.kind is Kind.reply:
            return
        first, *others = [faults(text, brief) for text in _texts(brief)]
        if first and all(others):
            raise BriefNotUnderstood(reason=f"its text would have a fault: {first[0].rstrip('.')}")

    async def write(self, brief: Brief) -> Written:
        """Return `brief.count` texts, or the reply of the FAQ."""
        return _answer(brief) if brief.kind is Kind.reply else Written(_texts(brief))


def _texts(brief: Brief) -> Sequence[str]:
    return list(islice(dict.fromkeys(_drafts(brief)), brief.count))


def _answer(brief: Brief) -> Written:
    """Return the answer with the highest score as it is written, or none."""
    best = max((each for each in brief.passages if each.is_answer), key=lambda each: each.score, default=None)
    return Written((best.text,)) if best and best.score >= ANSWERED else Written((), needs_person=NO_ANSWER)


def _drafts(brief: Brief) -> Iterator[str]:
    clauses = _read(brief)
    company = _plain(brief.company_name).rstrip(".")
    named = company and company.lower() not in _plain(brief.description).lower() and len(company) <= LONGEST_NAME
    for closing in CLOSINGS:
        for turn, greeting in enumerate(GREETINGS):
            first, *others = (_fill(clause, turn) for clause in clauses)
            opening = greeting.format(company) if named else greeting.format("").partition(",")[0] + ","
            body = [_capital(first) if named else first, *map(_capital, others), closing]
            yield " ".join([opening, *filter(None, body), *([OPT_OUT] if brief.needs_opt_out else [])])


def _fill(clause: tuple[Sequence[str], str], turn: int) -> str:
    patterns, words = clause
    pattern = patterns[0 if ": " in words and patterns is _SAID else turn % len(patterns)]
    ends = re.search(r"[!?]$|\w\.[a-z]{2,}(?:/\S*)?$", words)
    return pattern[:-1].replace("{x}", _small(words)) + ("" if ends else pattern[-1])


def _read(brief: Brief) -> list[tuple[Sequence[str], str]]:
    """Return the clauses of a brief: the patterns and the words of each."""
    text = _NOTICE.sub("", _GREETING.sub("", _plain(brief.description), count=1))
    if reason := _find_obstacle(text, brief.tone):
        raise BriefNotUnderstood(reason=reason)
    first, *others = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip(" .")]
    clauses: list[tuple[Sequence[str], str]] = []
    for part in _JOINT.split(first) if _INSTRUCTION.match(first) else [first]:
        clauses.append(_read_part(part))
    for sentence in others:
        patterns, words = _read_part(sentence)
        clauses.append((_SAID[:1] if patterns is _SAID else patterns, words))
    return clauses


def _find_obstacle(text: str, tone: str) -> str | None:
    if re.search(r"[{}]", re.sub(r"\{[^{}\s]+\}", "", text)):
        return "a brace is open or unknown"
    if tone and not re.fullmatch(_PLAIN_TONE, tone.strip(), re.IGNORECASE):
        return f'the tone "{tone.strip()[:40]}"'
    if style := _STYLE.search(text):
        return f'"{style[0].strip()}"'
    if len(set(_OTHER_LANGUAGE.findall(text))) > 1 or re.search(r"[^\W\d_a-zA-Z\u00c0-\u024f]", text):
        return "it is not in English"
    return None if len(re.findall(r"[^\W_]+", text)) > 1 else "it has too few words"


def _read_part(part: str) -> tuple[Sequence[str], str]:
    part = part.strip().rstrip(".").strip()
    if added := _ADDED.fullmatch(part):
        return _SAID, _addressed(added["x"])
    frame = _FRAME.match(part)
    rest = part[frame.end() :] if frame else part
    for form, patterns in _DIRECTIVES:
        if found := form.fullmatch(rest):
            return patterns, _addressed(found["x"])
    if _INSTRUCTION.match(rest) or not rest or (" who " in rest and frame):
        raise BriefNotUnderstood(reason=f'"{part[:60]}"')
    if frame and frame["link"].lower() != "to":
        kind = frame["kind"].lower().replace(" ", "-")
        return (_SAID if frame["link"].endswith((":", "says", "saying")) else _BY_KIND.get(kind, _NEWS)), _addressed(
            rest
        )
    return _SAID, rest


def _addressed(words: str) -> str:
    return re.sub(r"[A-Za-z']+", lambda word: _TO_YOU.get(word[0].lower(), word[0]), words)


def _capital(words: str) -> str:
    """Return words with a capital, unless the first has its own spelling: "iPhone", "example.com"."""
    first = words.split(" ", 1)[0]
    return words[:1].upper() + words[1:] if first.islower() and "." not in first[:-1] else words


def _small(words: str) -> str:
    return words[:1].lower() + words[1:] if _SMALL.match(words) else words


def _plain(text: str) -> str:
    """Return a text on one line, in the characters of GSM-7 where they have them, without emoji."""
    kept = (" " if unicodedata.category(each) in ("So", "Cc", "Zl", "Zp") else each for each in text)
    joined = re.sub(r"(?<=\w)\s*[\r\n]+\s*", ". ", "".join(kept) if "\n" not in text else text)
    clean = " ".join("".join(each for each in joined if unicodedata.category(each) not in ("So", "Cf")).split())
    return clean if sms_parts.is_gsm_7(clean) else smart_encoding.encode(clean)
