"""Measures and checks of texts before they are sent, as the contract shows them."""

import unicodedata
from typing import Annotated, Any

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.billing import prices
from app.domain.kernel import phone
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.smart_encoding import Costly
from app.domain.kernel.sms_parts import Encoding, Parts
from app.domain.templates import checkers, checking, lint, measure, queries, rendering, vocabulary
from app.domain.templates.checkers import Checker
from app.domain.templates.lint import MOST_FOUND, RuleId, Severity
from app.domain.templates.measure import Measure
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe

MAX_LENGTH = 10_000
"""Maximum length of a measured or checked text: longer than any that can be sent, so that its parts can be shown."""

describe(
    Severity,
    "The weight of a finding.",
    {
        "error": "A text with placeholders cannot be saved with it.",
        "high": "Carriers are likely to filter the text, or it breaks a rule.",
        "medium": "The text may be filtered, or costs more than it must.",
        "low": "The text can be better.",
    },
    name="FindingSeverity",
)

describe(
    RuleId,
    "A rule for texts.",
    {
        "placeholder": "A placeholder cannot be rendered.",
        "shortener": "It links to a shared shortener of links.",
        "link_host": "It links to an address of digits, or to a host whose name looks like another.",
        "foreign_link": "It links to a host that is not the account's.",
        "many_links": "It has more than one link.",
        "capitals": "Most of its letters are capitals.",
        "pressure": "It has several words that put pressure on people.",
        "restricted": "It is about content that carriers restrict.",
        "no_company_name": "It does not name the sender.",
        "no_opt_out": "It does not say how to opt out.",
        "foreign_phone": "It names a phone that is not the account's.",
        "reserved_reply": "It asks for a reply with a word that opts out or in, or asks for help.",
        "phishing": "It asks for credentials, or looks as if it did.",
        "blank": "It has a blank in another form, such as [First Name], which is not filled in.",
        "encoding": "A character makes it cost more SMS parts.",
        "line_ends": "Its line ends cost an SMS part.",
        "unused_placeholder": "It has a placeholder, which is sent as it is written.",
    },
    name="TextRule",
)

Body = Annotated[
    str,
    strawberry.argument(
        description=f"The text, at most {MAX_LENGTH:,} characters.", directives=[Constraint(max_length=MAX_LENGTH)]
    ),
]
IsTemplate = Annotated[
    bool, strawberry.argument(description="Whether the text has placeholders, as those of templates and drip steps.")
]

FirstPromotional = Annotated[
    bool,
    strawberry.argument(
        description="Whether it is the first promotional text to a person, who must be told how to opt out."
    ),
]


@strawberry.type(description="A finding about a text: advice, unless its severity is error.")
class TextFinding:
    """A finding."""

    rule: RuleId = strawberry.field(description="The rule.")
    severity: Severity = strawberry.field(description="The weight of the finding.")
    text: str = strawberry.field(description="The finding, in a sentence.")
    advice: str = strawberry.field(description="The advised action.")
    position: int = strawberry.field(description="The place in the text where it begins, from 0.")
    length: int = strawberry.field(description="The number of characters that it is about.")

    @classmethod
    def of(cls, found: lint.Finding) -> "TextFinding":
        """Return a finding as the contract shows it."""
        start, end = found.start, found.end
        return cls(
            rule=found.rule,
            severity=found.severity,
            text=found.text,
            advice=found.advice,
            position=start,
            length=end - start,
        )


@strawberry.type(description="A character outside GSM-7, because of which the whole text is sent in UCS-2.")
class CostlyCharacter:
    """A character that costs parts."""

    character: str = strawberry.field(description="The character, with its combining marks.")
    name: str = strawberry.field(description="Its name in Unicode.")
    positions: list[int] = strawberry.field(description="Its places in the text, from 0.")
    replacement: str | None = strawberry.field(
        description="Its replacement by smart encoding; empty where it is removed, null where there is none."
    )

    @classmethod
    def of(cls, costly: Costly) -> "CostlyCharacter":
        """Return a character as the contract shows it."""
        first = costly.character[0]
        name = unicodedata.name(first, f"U+{ord(first):04X}")
        return cls(character=costly.character, name=name, positions=costly.positions, replacement=costly.replacement)


@strawberry.type(description="The SMS parts of a text.")
class TextParts:
    """A text and its parts."""

    body: str = strawberry.field(description="The text.")
    characters: int = strawberry.field(description="The number of its characters; at most 1,600 can be sent.")
    encoding: Encoding = strawberry.field(description="The alphabet that the text is sent in.")
    segments: int = strawberry.field(description="The number of SMS parts.")
    units: list[int] = strawberry.field(
        description="The size of each part: of 160 septets in GSM-7, 153 if there are several; of 70 and 67 in UCS-2."
    )
    credits: int = strawberry.field(description="The credits that it costs.")

    @classmethod
    def of(cls, body: str, parts: Parts, price: int) -> "TextParts":
        """Return the parts of a text as the contract shows them."""
        return cls(
            body=body,
            characters=len(body),
            encoding=parts.encoding,
            segments=parts.segments,
            units=list(parts.units),
            credits=parts.segments * price,
        )


@strawberry.type(description="The measure of a text: as it is typed, and as smart encoding sends it.")
class TextMeasure:
    """The measure of a text."""

    as_typed: TextParts = strawberry.field(description="The text as it is typed.")
    smart_encoded: TextParts = strawberry.field(
        description="The text as smart encoding sends it; the same where that saves nothing."
    )
    segments_saved: int = strawberry.field(description="The SMS parts that smart encoding saves.")
    costly_characters: list[CostlyCharacter] = strawberry.field(
        description="The characters that force UCS-2, in the order of their first places."
    )

    @classmethod
    def of(cls, found: Measure, price: int) -> "TextMeasure":
        """Return a measure as the contract shows it."""
        return cls(
            as_typed=TextParts.of(found.text, found.parts, price),
            smart_encoded=TextParts.of(found.encoded, found.encoded_parts, price),
            segments_saved=found.saved,
            costly_characters=[CostlyCharacter.of(each) for each in found.costly],
        )


@strawberry.type(description="The measures of a text, and of the renderings of one with placeholders.")
class MeasuredText:
    """The measures of a text."""

    body: TextMeasure = strawberry.field(
        description="The text as it is sent; of one with placeholders, its rendering with their examples."
    )
    is_smart_encoded: bool = strawberry.field(
        description="Whether sends of the account are smart-encoded: then smart_encoded is sent, otherwise as_typed."
    )
    shortest: TextMeasure | None = strawberry.field(
        description="The shortest rendering; null for a text without placeholders."
    )
    longest: TextMeasure | None = strawberry.field(
        description="The rendering with values of 64 characters in GSM-7; null for a text without placeholders."
    )
    longest_ucs_2: TextMeasure | None = strawberry.field(
        description="The rendering with values of 64 characters outside GSM-7; null for a text without placeholders."
    )


@strawberry.type
class TextQuery:
    """Measuring and checking texts."""

    @strawberry.field(
        description=(
            "Measure a text before it is sent: its SMS parts, its credits, and the characters that cost more than they "
            "must, with their replacements."
        ),
        directives=guarded("account:read", "invalid_phone", "message_too_long"),
    )
    async def measure_text(
        self,
        info: Info,
        body: Body,
        template: IsTemplate = False,
        to: Annotated[
            str | None, strawberry.argument(description="The recipient, for the credits; a phone at home otherwise.")
        ] = None,
        fold_accents: Annotated[
            bool | None,
            strawberry.argument(
                description="Whether smart encoding may remove accents, which changes words; the account's setting "
                "where it is left out."
            ),
        ] = None,
    ) -> MeasuredText:
        """Measure a text."""
        _require_length(body)
        account = await accounts.get_own(info.context.unit)
        price = prices.HOME if to is None else _price(to, account.region)
        folds, is_encoded = account.fold_accents if fold_accents is None else fold_accents, account.smart_encoding
        if not template:
            found = TextMeasure.of(measure.measure(body, fold_accents=folds), price)
            return MeasuredText(
                body=found, is_smart_encoded=is_encoded, shortest=None, longest=None, longest_ucs_2=None
            )
        known = await vocabulary.find(info.context.unit, of_bookings=True)
        checking.check(body, known, "body")
        compiled = rendering.CompiledText(body, await queries.find_fallbacks(info.context.unit))
        own: dict[str, Any] = {"company_name": account.company_name}
        example = compiled.render({**{name: each.example for name, each in known.names.items()}, **own}).text
        bounds = measure.find_bounds(compiled, known, own, fold_accents=folds)
        return MeasuredText(
            body=TextMeasure.of(measure.measure(example, fold_accents=folds), price),
            is_smart_encoded=is_encoded,
            shortest=TextMeasure.of(bounds.shortest, price),
            longest=TextMeasure.of(bounds.longest, price),
            longest_ucs_2=TextMeasure.of(bounds.longest_ucs_2, price),
        )

    @strawberry.field(
        description=(
            "Check a text before it is sent: content that carriers filter, avoidable costs, and omissions. "
            f"The most severe findings first; at most {MOST_FOUND}."
        ),
        directives=guarded("account:read"),
    )
    async def check_text(
        self,
        info: Info,
        body: Body,
        template: IsTemplate = False,
        first_promotional: FirstPromotional = False,
    ) -> list[TextFinding]:
        """Check a text."""
        _require_length(body)
        checker = await _load_checker(info, info.context.unit.actor.account_id)
        found = checker.check(body, is_template=template, is_first_promotional=first_promotional)
        return [TextFinding.of(each) for each in found]


async def find_findings(info: Info, account_id: int, body: str, *, is_first_promotional: bool) -> list[TextFinding]:
    """Return the findings about a text with placeholders of an account."""
    checker = await _load_checker(info, account_id)
    found = checker.check(body, is_template=True, is_first_promotional=is_first_promotional)
    return [TextFinding.of(each) for each in found]


async def _load_checker(info: Info, account_id: int) -> Checker:
    checker = await info.context.load(checkers.find, account_id)
    assert checker
    return checker


def _require_length(body: str) -> None:
    if len(body) > MAX_LENGTH:
        raise InvalidInput(reason=f"body must have at most {MAX_LENGTH} characters.", field="body")


def _price(to: str, region: str) -> int:
    return prices.credits_per_segment(phone.find_unproven(to, region) or phone.require_recipient(to, region), region)
