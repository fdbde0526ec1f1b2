"""The kinds of connections, and their opening."""

import re
from typing import Any

import pytest
from pydantic import ValidationError

from app.domain.carriers.kinds import CarrierKind, Configuration
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.registry import KINDS, Environment, UnknownKind, open_with

NOTHING: Any = None  # a carrier asks at its first message only
OPEN = open_with(Environment(NOTHING, print, NOTHING, "https://sms.example.com", 10, b"secret", 0))


def test_a_connection_to_the_sandbox_has_the_key_and_the_limits_that_it_is_opened_with() -> None:
    carrier = OPEN(Configuration("second", "sandbox", {"max_segments": 3}, {"secret": "x" * 16}))

    assert isinstance(carrier, SandboxCarrier)
    assert (carrier.key, carrier.capabilities.max_segments, carrier.secret) == ("second", 3, b"x" * 16)


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    known = re.escape(", ".join(KINDS))

    with pytest.raises(UnknownKind, match=rf"There is no carrier 'pigeon'\. Known carriers: {known}\."):
        OPEN(Configuration("pigeon", "pigeon", {}, {}))


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_setting_and_every_credential_of_a_kind_has_a_description(kind: CarrierKind) -> None:
    fields = {**kind.settings.model_fields, **kind.credentials.model_fields}

    assert [name for name, field in fields.items() if not field.description] == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_values_that_a_kind_does_not_have_are_refused_without_repeating_the_credentials(kind: CarrierKind) -> None:
    with pytest.raises(ValidationError):
        OPEN(Configuration("first", kind.name, {"pigeon": 1}, {}))
    with pytest.raises(ValidationError) as refused:
        OPEN(Configuration("first", kind.name, {}, {"pigeon": "a very secret text"}))

    assert "a very secret text" not in str(refused.value)
