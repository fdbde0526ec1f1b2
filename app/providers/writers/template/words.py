"""Vocabulary of the template writer's parser."""

import re

from app.providers.writers.template.phrases import Intent

AUDIENCE = (
    r"(?:(?:all|every|each|any|some|of|our|my|your|the|their|a|an)\s+){0,3}"
    r"(?:(?!(?:to|for|of|on|about|at|with|from|in|and|that|who|a|an|the)\b)[a-z'-]+\s+){0,3}?"
    r"(?:(?:customer|client|patient|member|subscriber|guest|lead|prospect|contact|buyer|seller|owner|homeowner|student"
    r"|user|attendee|tenant|resident|donor|volunteer|shopper|diner|driver|employee|parent|player|fan|follower|friend"
    r"|neighbou?r|applicant|visitor|travell?er|participant|recipient|supporter|signup|sign-up)s?"
    r"|people|you|everyone|everybody|them|folks|families|staff|audience|list)\b(?!')"
    r"(?:\s+(?:on|in) (?:our|my|the) list)?"
)

ACTIONS = (
    "activate|add|answer|apply|arrive|ask|attend|be|book|bring|browse|buy|call|celebrate|change|check|choose|claim|click"
    "|collect|come|complete|confirm|contact|cook|create|dine|donate|download|drop|eat|enjoy|enter|explore|fill|find"
    "|finish|follow|get|give|go|have|help|join|keep|learn|leave|let|like|log|look|make|meet|open|order|park|pay|pick"
    "|pre-?order|post|provide|rate|read|receive|refer|register|renew|reply|request|reschedule|reserve|respond|return"
    "|review|rsvp|save|schedule|see|select|send|share|shop|show|sign|speak|start|stop|submit|subscribe|take|talk|tell"
    "|text|tour|try|turn|update|upgrade|upload|use|vaccinate|view|visit|vote|wear|work|write"
)

RELATIVE = rf"who\s+(?P<relative>.+?)(?=\s+to\s+(?:{ACTIONS})\b|\s+that\b|\s+(?:about|of)\s+their\b|,|$)"

# Each with its inflections: "remind", "reminds", "reminding".
DIRECTIVES: dict[str, tuple[str, Intent | None]] = {
    "remind": (r"remind(?:s|ing)?", Intent.reminder),
    "invite": (r"invit(?:es?|ing)", Intent.event),
    "announce": (
        r"announc(?:es?|ing)|introduc(?:es?|ing)|shar(?:es?|ing)|launch(?:es|ing)?(?=\s+(?:our|a|an|the)\b)",
        Intent.announcement,
    ),
    "promote": (r"promot(?:es?|ing)|advertis(?:es?|ing)", Intent.offer),
    "offer": (r"offer(?:s|ing)?|giv(?:es?|ing)", Intent.offer),
    "confirm": (r"confirm(?:s|ing)?", Intent.confirm),
    "thank": (r"thank(?:s|ing)?", Intent.thanks),
    "welcome": (r"welcom(?:es?|ing)", Intent.welcome),
    "ask": (
        rf"ask(?:s|ing)?|request(?:s|ing)?(?=\s+(?:a|an|that|reviews?|feedback|payment|{AUDIENCE})\b)",
        Intent.request,
    ),
    "follow up": (
        r"follow(?:s|ing)?[ -]up|check(?:s|ing)?[ -]in(?=\s+(?:with|on|about|after)\b|\s*$)|reach(?:es|ing)? out",
        Intent.follow_up,
    ),
    "let know": (rf"let(?:s|ting)?\s+{AUDIENCE}\s+know", None),
    "tell": (
        r"tell(?:s|ing)?|inform(?:s|ing)?|notif(?:y|ies|ying)|warn(?:s|ing)?|advis(?:es?|ing)|explain(?:s|ing)?"
        rf"|(?:alert(?:s|ing)?|updat(?:es?|ing))(?=\s+{AUDIENCE})",
        None,
    ),
    "text": (rf"(?:text|message|sms|e-?mail)(?:s|ing)?(?=\s+{AUDIENCE})", None),
    "wish": (r"wish(?:es|ing)?|say(?:s|ing)?(?=\s+(?:happy|merry)\b)", Intent.wish),
    "mention": (
        r"mention(?:s|ing)?|includ(?:es?|ing)|add(?:s|ing)?|say(?:s|ing)?|stat(?:es|ing)|point(?:s|ing)? out",
        Intent.generic,
    ),
    "congratulate": (r"congratulat(?:es?|ing)", Intent.congratulation),
    "apologize": (r"apologi[sz](?:es?|ing)|say(?:s|ing)? sorry", Intent.apology),
    "encourage": (
        rf"encourag(?:es?|ing)|urg(?:es?|ing)|motivat(?:es?|ing)|get(?:s|ting)?(?=\s+{AUDIENCE}\s+to\b)",
        Intent.suggestion,
    ),
}

ANY_DIRECTIVE = "|".join(forms for forms, _ in DIRECTIVES.values())

CONTENT: tuple[tuple[Intent, re.Pattern[str]], ...] = tuple(
    (intent, re.compile(rf"\b(?:{words})", re.IGNORECASE))
    for intent, words in (
        (Intent.review, r"reviews?\b|feedback|rate us|testimonials?\b"),
        (Intent.payment, r"invoices?\b|payments?\b|overdue|past due|balances?\b|pay (?:your|their|the)\b|bills?\b"),
        (Intent.follow_up, r"follow(?:ing)?[ -]?up|checking in"),
        (Intent.event, r"open house|webinar|workshop|grand opening|invit(?:e|ed|ation)|join us|rsvp|party\b"),
        (Intent.thanks, r"thank(?:s|[ -]you)?\b"),
        (Intent.welcome, r"welcome\b"),
        (Intent.apology, r"apolog"),
        (Intent.reminder, r"remind|don't forget|appointments?\b"),
        (Intent.confirm, r"confirm(?:ed|ation)?\b"),
        (Intent.notice, r"clos(?:ed|es|ing|ure)|cancel|delay|outage|postpone|unavailable|unfortunately|shut"),
        (
            Intent.offer,
            r"\d+ ?% off|discounts?\b|sale\b|(?<!feel )free\b|deals?\b|coupons?\b|specials?\b|half price"
            r"|promo(?:tion)?s?\b|offers?\b",
        ),
        (Intent.announcement, r"announce|now open|new\b|mov(?:ed|ing)|launch|updates?\b|opening"),
    )
)

PERSONAL = (
    "account|annual service|application|appointment|balance|bill|booking|car|check-?up|class|cleaning|consultation"
    "|delivery|demo|donation|estimate|experience|home|installation|interview|invoice|lease|lesson|membership|order|package"
    "|payment|policy|prescription|purchase|quote|registration|renewal|rent|repair|reservation|service|session|shipment"
    "|stay|subscription|table|test drive|ticket|tour|tune-?up|vehicle|visit|warranty"
)

DETERMINED = re.compile(
    r"(?:a|an|the|our|your|my|his|her|their|its|this|that|these|those|all|any|every|each|some|no|one|two|next|today's"
    r"|tomorrow's|\w+'s|\d[\w.,%$]*|[$€£]\S+|you|us|how|what|when|where|why)\b",
    re.IGNORECASE,
)

FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|can't|could|should|must|isn't|aren't|won't|don't|doesn't|do|does|did"
    r"|we're|you're|it's|they're|we've|you've|we'll|starts?|ends|opens|closes|expires?|begins?|arrives?|needs?|moved"
    r"|dropped|changed|increased|shipped)\b",
    re.IGNORECASE,
)

COMMON_START = re.compile(
    rf"(?:a|an|the|our|your|my|we|we're|we've|we'll|you|you're|this|these|there|it's|it|if|when|all|please|don't|free|new"
    rf"|open|buy|get|save|enjoy|come|join|book|call|use|try|visit|big|early|last|first|customers?|prices|rates|orders?"
    r"|do|does|did|are|is|would|could|have|has|looking|want|need|ready|grand|webinar|workshop|live|limited|weekend|summer"
    r"|winter|spring|holiday|dental|medical|hair|eye|oil|annual|teeth|massage|plumbing|roof|tax|flu|birthday|special"
    rf"|happy|merry|for|on|in|at|from|{PERSONAL})\b(?!\.)",
    re.IGNORECASE,
)

MOMENT = re.compile(
    r"(?:today|tonight|tomorrow|this|next|on|at|in|by|from|before|after|with|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d)",
    re.IGNORECASE,
)

ADDRESSED: dict[str, str] = {
    "they": "you",
    "them": "you",
    "their": "your",
    "theirs": "yours",
    "themselves": "yourself",
    "they're": "you're",
    "they've": "you've",
    "they'll": "you'll",
    "they'd": "you'd",
}

ADDRESSED_BY_NAME: dict[str, str] = {"he": "you", "she": "you", "him": "you", "his": "your", "her": "your"}

VERBS_OF_YOU: dict[str, str] = {
    "is": "are",
    "isn't": "aren't",
    "was": "were",
    "wasn't": "weren't",
    "has": "have",
    "hasn't": "haven't",
    "does": "do",
    "doesn't": "don't",
    "needs": "need",
    "wants": "want",
}
