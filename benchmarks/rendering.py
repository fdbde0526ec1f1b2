"""CPU time of texts with placeholders: rendered for 100,000 contacts, against `str.format_map` of the same values.

The floor fills values in as they are; a rendering also cleans them, closes gaps, and reports the missing ones.
"""

import time
from collections.abc import Callable, Iterable, Mapping

from app.domain.kernel import smart_encoding, sms_parts
from app.domain.templates.rendering import compiled
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

CONTACTS = 100_000
TEXT = "Hi {first_name}, your table at {company_name} is ready. Reply STOP to opt out."
NAMES = ("Ann", "Zoë", "Mary Jane", "O'Brien", "José", "Lee", "Priya", "Sam", "Maria", "Tom")
RENDER_BAR, COUNT_BAR = Bar(0.15), Bar(0.25)

Values = Mapping[str, str]


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Render a text, and render it, smart-encode it and count its parts, as a campaign does; no database is used."""
    contacts = [{"first_name": f"{NAMES[n % 10]} {n:x}", "company_name": "Blue Door"} for n in range(CONTACTS)]
    template = compiled(TEXT)

    def prepare(values: Values) -> object:
        return sms_parts.count(smart_encoding.encode(template.render(values).text))

    def fill(values: Values) -> object:
        return sms_parts.count(TEXT.format_map(values))

    rendered, encoded = list[float](), list[float]()
    filled, counted = list[float](), list[float]()
    for _ in range(rounds):
        rendered.append(_rate(template.render, contacts))
        filled.append(_rate(TEXT.format_map, contacts))
        encoded.append(_rate(prepare, contacts))
        counted.append(_rate(fill, contacts))
    return [
        Comparison("render", "1/s of CPU", Series("compiled", rendered), Series("format_map", filled), RENDER_BAR),
        Comparison(
            "render, encode, count", "1/s of CPU", Series("compiled", encoded), Series("format_map", counted), COUNT_BAR
        ),
    ]


def _rate(act: Callable[[Values], object], contacts: Iterable[Values]) -> float:
    begun = time.process_time()
    for values in contacts:
        act(values)
    return CONTACTS / (time.process_time() - begun)
