"""Credentials of Telnyx: a key that no HTTP header can hold is refused where it is entered."""

import base64

import pytest
from pydantic import ValidationError

from app.providers.carriers.telnyx.settings import TelnyxCredentials

PUBLIC_KEY = base64.b64encode(bytes(32)).decode()


@pytest.mark.parametrize("key", ["", "KEY\r\nX: y", "KEY\n", "KÉY", "KEY 1"])
def test_a_key_that_no_header_can_hold_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(ValidationError, match="must be letters, digits and signs") as refused:
        TelnyxCredentials.model_validate({"api_key": key, "public_key": PUBLIC_KEY})

    assert "KEY" not in str(refused.value)


@pytest.mark.parametrize("key", ["", "é", "AAAA", PUBLIC_KEY[:-2]])
def test_a_public_key_that_is_not_32_bytes_in_base64_is_refused_by_a_clear_sentence(key: str) -> None:
    with pytest.raises(ValidationError, match="must be the public key of the account as the portal shows it"):
        TelnyxCredentials.model_validate({"api_key": "KEY1", "public_key": key})
