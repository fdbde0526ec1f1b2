"""Settings and credentials of a connection to Telnyx."""

import base64
import re
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from app.domain.carriers.kinds import OPERATOR_ONLY, Credentials, LookupSettings

KEY_BYTES = 32
HEADER = re.compile("[!-~]+")
"""The secrets that an HTTP header can hold."""


def _check_key(key: str) -> str:
    try:
        size = len(base64.b64decode(key, validate=True))
    except ValueError:  # binascii.Error, or a character outside ASCII
        size = 0
    if size != KEY_BYTES:
        raise ValueError("must be the public key of the account as the portal shows it: 32 bytes in base64")
    return key


def _check_header(secret: SecretStr) -> SecretStr:
    if not HEADER.fullmatch(secret.get_secret_value()):
        raise ValueError("must be letters, digits and signs of ASCII, without spaces")
    return secret


class TelnyxSettings(LookupSettings):
    """Settings of a connection to Telnyx."""

    messaging_profile_id: Annotated[str, Field(pattern=r"^[0-9a-zA-Z-]{1,64}$")] | None = Field(
        None, description="The messaging profile of the texts; alphanumeric senders need it."
    )
    api_url: str = Field(
        "https://api.telnyx.com/v2", description="The address of Telnyx's API.", json_schema_extra=OPERATOR_ONLY
    )


class TelnyxCredentials(Credentials):
    """Credentials of a connection to Telnyx. The public key is one of them, so that both are rotated together."""

    api_key: Annotated[SecretStr, AfterValidator(_check_header), Field(description="An API key of the account.")]
    public_key: Annotated[str, AfterValidator(_check_key)] = Field(
        description="The account's public key, which verifies callbacks."
    )
