"""Signals in the text of an inbound message, on which gates decide without a model.

They are recognized by words, in English and for the plainest requests in five more languages. A missed signal costs a
poor answer; a wrong one costs a hand-over to a person.
"""

import enum
import re
import unicodedata

from app.domain.consent import quoted_replies
from app.domain.consent.recognition import IntentKind
from app.domain.messages import intents


class Signal(enum.StrEnum):
    """Signals in a message beside its question."""

    consent = enum.auto()
    automatic = enum.auto()
    closing = enum.auto()
    injection = enum.auto()
    identity = enum.auto()
    person = enum.auto()
    anger = enum.auto()
    legal = enum.auto()
    medical = enum.auto()
    dispute = enum.auto()
    promise = enum.auto()
    unhelpful = enum.auto()


def _regex(*parts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)", re.IGNORECASE)


_CLOSING = re.compile(
    r"\W*(?:(?:ok(?:ay)?|k|kk|thanks?(?: you)?(?: so much| a lot| very much)?|thx|ty|great|perfect|awesome|cool|nice"
    r"|got it|sounds good|will do|see (?:you|ya)(?: then| soon)?|bye|goodbye|no problem|np|good ?night|you too|cheers"
    r"|gracias|merci|danke|obrigad[oa]|grazie)\b\W*){1,4}",
    re.IGNORECASE,
)
_AUTOMATIC = _regex(
    r"auto[- ]?(?:reply|response|generated)",
    r"i(?:'m| am) (?:currently )?(?:driving|away|in a meeting|on vacation|out of (?:the )?office)",
    r"(?:will|can) (?:get|respond|reply) (?:back )?(?:to you )?(?:when|as soon as) (?:i|we)(?:'m| am| are| can)? .*",
    r"(?:sorry,? i )?(?:can't|cannot) talk(?: right now|\. (?:call|text) me later)",
    r"i(?:'m| am) currently (?:unavailable|away|busy)|mail ?box is full|message blocking is active",
    r"(?:delivery failed|not in service|undeliverable|no longer in service)|r[ée]ponse automatique\b.*",
    r"your message (?:has been|was) (?:received|forwarded)",
    r"thank you for (?:contacting|your message|reaching out).{0,80}(?:we will|we'll|our (?:team|hours)).*",
    r"this (?:number|line|inbox) (?:is not|isn't) monitored",
    r"do not reply to this (?:message|text)",
    r"abwesenheitsnotiz",
    r"absence du bureau",
)
_INJECTION = _regex(
    r"(?:ign[o0]re|disregard|forget|override|bypass)\b.{0,30}(?:instruction|rule|prompt|guideline|polic|protocol"
    r"|everything|above).*",
    r"(?:system|developer|hidden|initial) (?:prompt|message|instructions?|mode)",
    r"you (?:are|must) (?:now|no longer) .*|from now on,? (?:you|answer|respond|reply) .*",
    r"(?:you are|be) my (?:late )?(?:grand\w+|mother|father).*",
    r"(?:what (?:are|is|does|do)\b.{0,20}|list )your (?:prompt|instructions?|guidelines|rules)(?: say)?",
    r"repeat (?:everything|all|the text|the words) (?:above|before).*",
    r"(?:respond|reply|answer) only (?:with|in) .*|as an ai (?:language )?model.*|sudo .*",
    r"\{\{.{0,40}\}\}.*|#{2,} ?(?:instruction|system|task).*",
    r"(?:phone|number|name|message|conversation|data|list)s?\b.{0,20}(?:other|last|previous|all) (?:customers?|clients?"
    r"|people|patients?)|customer (?:list|data(?:base)?)|(?:other|last|previous) (?:customers?|clients?)\b.{0,20}"
    r"(?:ask|say|said|wrote|text|number).*",
    r"(?:pretend|act|behave|roleplay|respond) (?:to be|as if|as an?|like an?) .*",
    r"jailbreak(?:ed)?",
    r"do anything now",
    r"(?:repeat|print|reveal|show|tell me|output|translate)\b.{0,30}(?:your|the) (?:prompt|instructions?|rules)",
    r"(?:new|updated) (?:instructions?|rules?|system message)\s*:.*",
    r"</?(?:system|assistant|instructions?|user)>.*",
    r"\[/?(?:system|inst|admin)\].*",
    r"(?:execute|run|eval)\s*[(:].*",
    r"(?:i am|this is|i'm) (?:your|the) (?:developer|creator|administrator|admin|owner|boss|programmer)",
    r"(?:ignora|olvida)\b.{0,30}instrucciones.*",
    r"ignorez? (?:toutes )?(?:les|tes|vos) instructions.*",
    r"ignoriere (?:alle|deine) .*",
)
_IDENTITY = _regex(
    r"(?:are|r) (?:you|u) (?:an? )?(?:real |actual |live )?(?:person|human|human being|bot|robot|chatbot|machine"
    r"|computer|ai|real|automated|program)",
    r"(?:is|am i) (?:this|talking to|texting|chatting with|speaking (?:to|with)) (?:an? )?(?:real )?(?:person|human|bot"
    r"|robot|chatbot|machine|ai|computer)(?: or .*)?",
    r"(?:who|what) (?:are you|am i (?:talking|texting|speaking|chatting) (?:to|with))",
    r"(?:eres|es usted) (?:una? )?(?:robot|bot|persona|humano)",
    r"(?:es-tu|êtes-vous|etes-vous|tu es) (?:une? )?(?:robot|bot|humaine?|personne)",
    r"(?:bist du|sind sie) (?:ein )?(?:roboter|bot|mensch)",
)
_PERSON = _regex(
    r"(?:human|representative|operator|live (?:agent|person)|real (?:person|human|agent)|customer (?:service|support))",
    r"agent(?: please)?",
    r"(?:speak|talk|chat|connect me|transfer me|put me through)\b.{0,12}(?:to|with)\b.{0,12}(?:someone|somebody|an? \w+"
    r"|the (?:manager|owner)|your (?:manager|boss|supervisor)|person|staff|agent)",
    r"(?:call|phone|ring) me(?: back)?",
    r"(?:manager|supervisor)|(?:put|get) me\b.{0,12}(?:someone|somebody|your boss)|put me on with .*",
    r"persona real|(?:un )?humain svp",
    r"(?:hablar con|quiero) (?:una? )?(?:persona|humano|agente|alguien)",
    r"parler (?:à|a|avec) (?:une? )?(?:humain|personne|conseiller|quelqu'un)",
    r"(?:mit einem|einen) (?:menschen|mitarbeiter)(?: sprechen)?",
    r"(?:falar com) (?:uma? )?(?:pessoa|atendente|humano)",
    r"parlare con (?:una )?persona",
)
_ANGER = _regex(
    r"wtf|bull ?shit|f+u+c+k\w*|sh[i1]t\w*|a\*?ss ?hole|damn|idiots?|morons?|stupid|useless|ridiculous|unacceptable"
    r"|outrageous|disgusting|pathetic|incompetent|horrible|awful|terrible|scam(?:mers?)?|rip[- ]?off|liars?",
    r"(?:worst|never (?:using|coming|buying|again)|fed up|sick of|pissed(?: off)?|furious|angry|hate (?:you|this|it))",
    r"(?:shame on|screw) you|you(?: guys| all| people)? suck|f\*+|this is (?:bs|a joke)|what a joke|are you kidding"
    r"(?: me)?|(?:so |totally )?done with you.*",
)
_LEGAL = _regex(
    r"lawyers?|attorneys?|lawsuit|sue|suing|legal action|court|police|tcpa|gdpr|fcc|ftc|bbb|better business bureau"
    r"|small claims|report you|class action|subpoena",
    r"abogado|avocat|anwalt|advogado|avvocato",
)
_MEDICAL = _regex(
    r"911|emergency|bleeding|chest pain|overdos\w+|suicid\w+|kill myself|self[- ]harm|allergic|anaphyla\w+|unconscious"
    r"|can't breathe|seizure|stroke|heart attack|pregnan\w+|symptoms?|swelling|infection|dosage|side effects?|fever"
    r"|in (?:severe |a lot of |so much )?pain|hurts?|prescription|medication|diagnos\w+",
    r"end (?:my life|it all)|want to die|hurt myself|throat (?:is )?(?:closing|swelling)\b.*|faint(?:ed|ing)?|dizzy"
    r"|pass(?:ed|ing) out|(?:too many|whole bottle of) pills|can't (?:feel|move) (?:my|his|her) \w+|blister\w*|numb",
    r"duele|suicid\w+|quiero morir|ich will sterben",
    r"emergencia|urgence|notfall|dolor|sangr\w+",
)
_DISPUTE = _regex(
    r"refund(?:s|ed)?|charge ?back|money back|over ?charged|double[- ]charged|charged (?:me )?(?:twice|too much)"
    r"|wrong (?:amount|bill|price|charge)|billing (?:error|mistake|issue)|dispute\w*|didn'?t authorize|unauthorized"
    r"|not what (?:i|you) (?:paid|quoted|agreed)|hidden fees?"
    r"|why (?:was|am|were|did) \w+ (?:get )?(?:billed|charged)\b.*"
    r"|(?:charge|payment)\b.{0,12}(?:don't|do not|didn't|did not) (?:recogni[sz]e|make|know|authori[sz]e)"
    r"|give (?:me )?(?:back )?my money(?: back)?",
    r"reembolso|remboursement|erstattung|rimborso",
)
_PROMISE = _regex(
    r"(?:can|could|will|would) (?:you|u|i|we)\b.{0,30}(?:discount|deal|cheaper|lower(?: the)? price|price match|match"
    r"|free|waive|guarantee|promise|% off|off the price)\b.*",
    r"(?:promise|guarantee) (?:me|that|it|you)\b.*",
    r"(?:best|lowest|better) (?:price|deal|offer)(?: you can.*)?",
    r"(?:give|get|make) me (?:a )?(?:discount|deal|\d+ ?%).*",
    r"(?:negotia\w+|haggle|coupons?|promo(?:tion)? codes?|vouchers?)",
    r"(?:get|have|do) (?:it|that|this|one|i|we)\b.{0,12}for free|free (?:haircut|one|sample)s?|knock\b.{0,12}\boff\b.*",
    r"(?:confirm|say|agree|admit) (?:that|yes|it)\b.{0,30}(?:\$|cost|price|free|\d+).*",
    r"(?:for|at) \$?\d+,? (?:same|too)\b.*|same (?:price|deal|for me)",
    r"descuento|rabatt|remise|sconto|desconto",
)
_UNHELPFUL = _regex(
    r"(?:that's|thats|that is|this is) not what i (?:asked|meant|said)",
    r"(?:that |this )?(?:doesn't|does not|didn't|did not) (?:answer|help)\b.*",
    r"(?:you (?:didn't|did not|don't|do not|aren't|are not)) (?:answer\w*|understand\w*|listen\w*|get it)\b.*",
    r"wrong answer|i already (?:said|told you|asked)|read my (?:message|question)|no,? i meant",
    r"again:? .{0,60}\?",
)
_PATTERNS = (
    (Signal.injection, _INJECTION),
    (Signal.identity, _IDENTITY),
    (Signal.person, _PERSON),
    (Signal.anger, _ANGER),
    (Signal.legal, _LEGAL),
    (Signal.medical, _MEDICAL),
    (Signal.dispute, _DISPUTE),
    (Signal.promise, _PROMISE),
    (Signal.unhelpful, _UNHELPFUL),
)
SHOUTED_LETTERS, MOST_CHARACTERS = 14, 1600


def read(body: str, answered_keyword: str | None = None) -> frozenset[Signal]:
    """Return the signals of a message, and of the keyword in it that the carrier answered."""
    text = _plain(body)
    is_reserved = intents.classify(body, answered_keyword).kind is not IntentKind.none
    if not is_reserved and not re.search(r"\w", text) and "?" not in text:
        return frozenset({Signal.closing})
    found = {signal for signal, pattern in _PATTERNS if pattern.search(text)}
    if is_reserved:
        found.add(Signal.consent)
    if not quoted_replies.is_reply(body) or ("?" not in text and _AUTOMATIC.search(text)):
        found.add(Signal.automatic)
    if _CLOSING.fullmatch(text):
        found.add(Signal.closing)
    if _is_shouted(text):
        found.add(Signal.anger)
    if Signal.identity in found and not re.search(
        r"speak|talk (?:to|with)|connect|transfer|instead|please", text, re.I
    ):
        found.discard(Signal.person)
    return frozenset(found)


LOOKALIKES = str.maketrans("ɡаеіоорсухѕ", "gaeioopcyxs")
"""Letters of other alphabets that look like Latin ones, in texts that are otherwise Latin."""


def _plain(body: str) -> str:
    text = unicodedata.normalize("NFKC", body[:MOST_CHARACTERS]).replace("’", "'").replace("‘", "'")
    text = text.translate(LOOKALIKES) if re.search(r"[a-z]{2}", text) else text
    return " ".join("".join(each for each in text if unicodedata.category(each) != "Cf").split())


def _is_shouted(text: str) -> bool:
    letters = [each for each in text if each.isalpha()]
    return len(letters) >= SHOUTED_LETTERS and all(each.isupper() for each in letters if each.lower() != each.upper())
