"""Words and hosts that the checks of a text look for, each list with its source and date.

They are what carriers filter, not law. Read 2026-11-23.
"""

SHORTENERS = """
9qr.de alturl.com bc.vc bit.do bit.ly bitly.com bitly.ws bl.ink budurl.com buff.ly clicky.me cutt.ly goo.gl is.gd
lnkd.in mcaf.ee minm.xyz ow.ly rb.gy rebrand.ly rebrandly.com s2r.co short.io shorturl.at shrtco.de soo.gd t.co t.ly
tiny.cc tinyurl.com trib.al v.gd
"""
"""Public link shorteners, whose links carriers block: T-Mobile's Code of Conduct, and the list of blocked hosts at
https://upccell.zendesk.com/hc/en-us/articles/35150610082323."""

PRESSURE = r"!!+|\$\$\$+|\bfree\b(?! of\b)|\bact now\b|\bwinners?\b|\bguaranteed?\b|\burgent\b|\brisk[- ]free\b"
"""Signs and words of pressure that spam filters count."""

RESTRICTED = {
    "sex": r"porn\w*|xxx|nudes?|escorts?|adult content|sexy?|onlyfans",
    "hate": r"nazis?|white power|white pride|kkk|hate speech",
    "alcohol": r"alcohol|beers?|wines?|vodka|whiske?y|tequila|liquor|cocktails?|brewery|booze",
    "firearms": r"(?<!glue )(?<!massage )(?<!nail )(?<!heat )guns?|rifles?|pistols?|ammo|ammunition|firearms?",
    "tobacco": r"tobacco|cigarettes?|cigars?|vap(?:es?|ing)|e-?cigs?|nicotine|hookah",
    "cannabis": r"cannabis|marijuana|cbd|thc|dispensary|kratom|hemp",
    "gambling": r"casinos?|gambling|sports ?betting|sportsbook|jackpot|poker|lottery|free spins",
    "high-risk loans": r"payday loans?|cash advances?|title loans?|quick loans?|no credit check",
    "debt relief": r"debt (?:relief|consolidation|forgiveness|settlement)|credit repair|loan forgiveness",
    "cryptocurrency": r"crypto(?:currency|currencies)?|bitcoins?|ethereum|nfts?|token sale",
}
"""Contents that carriers restrict (SHAFT: sex, hate, alcohol, firearms, tobacco) or forbid: CTIA Messaging Principles
and Best Practices 2023, 5.3, and https://support.800.com/hc/en-us/articles/23906014801933."""

PHISHING = (
    r"\b(?:verify|confirm|update|unlock|suspend\w*|restore)\b[^.!?]{0,20}"
    r"\b(?:account|identity|password|billing|card|payment (?:details|method|information))\b"
    r"|\b(?:social security|ssn|one[- ]time (?:pass)?code|otp)\b"
    r"|\b(?:verification|security|login|access) code\b|\bcode is:? ?\d{4,8}\b"
)
"""Wordings of messages that ask for credentials, or look as if they did."""

OPT_OUT = (
    r"\b(?:reply|text|send|txt)\b[^.!?\n]{0,12}\b(?:stop|unsubscribe|quit|end|cancel)\b|\bopt[- ]?out\b|\bunsubscribe\b"
    r"|\bstop\s*(?:=|to|2)\s*(?:end|quit|stop|cancel|opt|unsub)"
)
"""Wordings that tell how to opt out."""

ASKS = (
    r"(?:reply|respond|answer|text|txt|send|type|write|text back|reply back)(?:\s+(?:with|us|back|the word|now))*"
    r"|responda?|envíe?|conteste|répondez|envoyez|antworten sie(?: mit)?|antworte(?: mit)?|schreiben sie"
)
"""Wordings that ask for a reply; a word follows."""

OF_MESSAGES = (
    r"(?:(?:all|any|our|these|this|the|future|further|more|receiving|getting|text|sms|marketing|promotional|from|to|your)"
    r"\s+)*"
    r"(?:messages?|msgs?|texts?|sms|alerts?|updates?|notifications?|reminders?|offers?|subscription|program|list|us|all"
    r"|anytime|at any time|receiving|emails?|communications?)\b"
)
"""The objects of an instruction that is about the messages themselves: to stop all texts."""
