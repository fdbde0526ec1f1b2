"""Settings and credentials of a connection to Twilio."""

from typing import Annotated

from pydantic import Field, SecretStr

from app.domain.carriers.kinds import OPERATOR_ONLY, Credentials, LookupSettings


class TwilioSettings(LookupSettings):
    """Settings of a connection to Twilio."""

    messaging_service_sid: Annotated[str, Field(pattern=r"^MG[0-9a-fA-F]{32}$")] | None = Field(
        None, description="The messaging service that texts are sent through; its sender pool must hold the numbers."
    )
    validity_seconds: Annotated[int, Field(ge=1, le=36000)] | None = Field(
        None, description="Time that Twilio may keep a text before it leaves; without it, 10 hours."
    )
    api_url: str = Field(
        "https://api.twilio.com", description="The address of Twilio's API.", json_schema_extra=OPERATOR_ONLY
    )
    lookups_url: str = Field(
        "https://lookups.twilio.com", description="The address of Twilio's Lookup API.", json_schema_extra=OPERATOR_ONLY
    )


class TwilioCredentials(Credentials):
    """Credentials of a connection to Twilio. The auth token also signs callbacks, so it is needed with an API key."""

    account_sid: Annotated[str, Field(pattern=r"^AC[0-9a-fA-F]{32}$", description="The account's SID.")]
    auth_token: Annotated[SecretStr, Field(min_length=1, description="The account's auth token.")]
    api_key_sid: Annotated[str, Field(pattern=r"^SK[0-9a-fA-F]{32}$")] | None = Field(
        None, description="The SID of an API key, which calls are made with instead of the auth token."
    )
    api_key_secret: SecretStr | None = Field(None, description="The secret of the API key.")
    webhook_secret: SecretStr | None = Field(
        None, description="The shared secret of callbacks signed with SHA-256, if Twilio signs yours so."
    )
