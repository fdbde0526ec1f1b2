"""Measures of texts and the bounds of their renderings."""

from hypothesis import given
from hypothesis import strategies as st

from app.domain.kernel.sms_parts import Encoding
from app.domain.templates.measure import find_bounds, measure
from app.domain.templates.rendering import CompiledText
from app.domain.templates.vocabulary import OF_CONTACTS

KNOWN = {"company_name": "Blue Door"}


def test_a_text_is_measured_as_typed_and_smart_encoded() -> None:
    found = measure("A" * 158 + "’A")

    assert (found.parts.encoding, found.parts.units, found.saved) == (Encoding.ucs_2, (67, 67, 26), 2)
    assert (found.encoded, found.encoded_parts.units) == ("A" * 158 + "'A", (160,))
    assert [(each.character, each.positions, each.replacement) for each in found.costly] == [("’", [158], "'")]
    assert measure("aquí" * 20, fold_accents=True).saved == 1


def test_the_bounds_of_a_text_are_those_of_its_values() -> None:
    bounds = find_bounds(CompiledText("Hi {first_name|friend}, {company_name}", {}), OF_CONTACTS, KNOWN)

    assert bounds.shortest.text == "Hi x, Blue Door"
    assert bounds.longest.text == f"Hi {'x' * 64}, Blue Door"
    assert (bounds.longest.parts.segments, bounds.longest_ucs_2.parts.segments) == (1, 2)


def test_a_placeholder_without_a_fallback_can_be_empty() -> None:
    bounds = find_bounds(CompiledText("Hi {first_name}, since {created_at:date(EEEE d MMMM)}", {}), OF_CONTACTS, KNOWN)

    assert bounds.shortest.text == "Hi, since Friday 1 May"
    assert bounds.longest.text == f"Hi {'x' * 64}, since Wednesday 30 September"


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_rendering_is_within_its_bounds(first: str, last: str) -> None:
    template = CompiledText("Hi {first_name} {last_name|you}, welcome to {company_name}.", {})
    bounds = find_bounds(template, OF_CONTACTS, KNOWN)

    rendered = template.render({"first_name": first, "last_name": last, **KNOWN}).text

    assert len(bounds.shortest.text) <= len(rendered) <= len(bounds.longest.text)
