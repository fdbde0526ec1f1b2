"""Numbers with the digit that is dialed within a country only."""

import pytest

from app.domain.kernel import phone
from app.domain.kernel.phone import InvalidPhone


@pytest.mark.parametrize("number", ["+4400626375612", "+910072162016", "+86000383967"])
def test_a_number_that_keeps_its_trunk_digit_abroad_is_refused(number: str) -> None:
    with pytest.raises(InvalidPhone, match="only dialed within its country"):
        phone.normalize(number, "US")
