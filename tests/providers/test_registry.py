"""Choosing the carrier by its name."""

import pytest

from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.registry import CARRIERS, UnknownCarrier, open_carrier
from app.settings import Settings

POOL = None  # a carrier asks the database at its first message only


def test_the_settings_choose_the_carrier() -> None:
    carrier = open_carrier(Settings(carrier="sandbox"), POOL, b"secret", print)

    assert isinstance(carrier, SandboxCarrier)


@pytest.mark.parametrize("name", CARRIERS)
def test_a_carrier_bears_the_name_that_it_is_chosen_by(name: str) -> None:
    carrier = open_carrier(Settings(carrier=name), POOL, b"secret", print)

    assert carrier.key == name


def test_an_unknown_carrier_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownCarrier, match=r"There is no carrier 'pigeon'\. Known carriers: sandbox\."):
        open_carrier(Settings(carrier="pigeon"), POOL, b"secret", print)
