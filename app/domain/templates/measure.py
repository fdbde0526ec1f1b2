"""Measure a text before it is sent: its SMS parts, its credits, and the characters that cost more than they must."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.domain.kernel import smart_encoding, sms_parts
from app.domain.kernel.placeholders import ValueKind, Vocabulary
from app.domain.kernel.smart_encoding import Costly
from app.domain.kernel.sms_parts import Parts
from app.domain.templates.rendering import MAX_VALUE, CompiledText

LONG, LONG_UCS_2 = "x" * MAX_VALUE, "ş" * MAX_VALUE
"""Values of the greatest length, in GSM-7 and outside it."""

SHORT_DAY = datetime(2026, 5, 1, 1, 0)  # noqa: DTZ001 - Friday 1 May: only its length counts
LONG_DAY = datetime(2026, 9, 30, 22, 22)  # noqa: DTZ001 - Wednesday 30 September


@dataclass(frozen=True, slots=True)
class Measure:
    """The measure of one text: as it is typed, and smart-encoded. `costly` are the characters that force UCS-2."""

    text: str
    parts: Parts
    encoded: str
    encoded_parts: Parts
    costly: list[Costly]

    @property
    def saved(self) -> int:
        """Return the parts that smart encoding saves."""
        return self.parts.segments - self.encoded_parts.segments


@dataclass(frozen=True, slots=True)
class Bounds:
    """The shortest and longest renderings of a text with placeholders.

    `longest` has values of 64 characters in GSM-7, `longest_ucs_2` of 64 outside it: one such name is enough.
    """

    shortest: Measure
    longest: Measure
    longest_ucs_2: Measure


def measure(text: str, *, fold_accents: bool = False) -> Measure:
    """Measure a text that is sent as it is."""
    encoded = smart_encoding.encode(text, fold_accents=fold_accents)
    return Measure(
        text,
        sms_parts.count(text),
        encoded,
        sms_parts.count(encoded),
        smart_encoding.find_costly(text, fold_accents=fold_accents),
    )


def find_bounds(
    template: CompiledText, vocabulary: Vocabulary, known: Mapping[str, object], *, fold_accents: bool = False
) -> Bounds:
    """Return the bounds of a text's renderings; `known` are the values that are the same for every contact."""
    days = {name for name, each in vocabulary.names.items() if each.kind is ValueKind.time}
    fallbacks = {slot.name: slot.fallback for slot in template.slots}

    def render(text: str, day: datetime) -> Measure:
        values = {name: day if name in days else text for name in fallbacks}
        return measure(template.render({**values, **known}).text, fold_accents=fold_accents)

    short = {name: "" if len(fallback) <= 1 else "x" for name, fallback in fallbacks.items() if name not in days}
    shortest = template.render({**dict.fromkeys(days, SHORT_DAY), **short, **known}).text
    return Bounds(measure(shortest, fold_accents=fold_accents), render(LONG, LONG_DAY), render(LONG_UCS_2, LONG_DAY))
