"""Facts that a writer states in letters that look like others."""

import pytest

from app.domain.writing.checking import faults
from app.domain.writing.writer import Brief

BRIEF = Brief("20% off until Friday", "Blue Door")
END = " Reply STOP to opt out."


@pytest.mark.parametrize(
    "text",
    ["Only 2\u200b1 left", "Only ２１ left", "Only 2\u00ad1 left"],
    ids=["zero-width space", "full-width digits", "soft hyphen"],
)
def test_a_number_is_found_however_its_digits_are_written(text: str) -> None:
    assert faults(text + END, BRIEF) == ["It states '21', which the brief does not."]
