"""Settings of CRMs: the application of this service at each of them."""

from typing import Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings

ADDRESS = "^https?://[^/]+"


class CrmSettings(BaseSettings):
    """The application at HighLevel; without its id and its secret, no account can connect it."""

    highlevel_client_id: str | None = Field(
        None, pattern=r"^[A-Za-z0-9-]+$", description="the client id of an application, such as 64f0a1b2-lm3k"
    )
    highlevel_client_secret: SecretStr | None = Field(
        None, description="the client secret of the application: no spaces"
    )
    highlevel_provider_id: str | None = Field(
        None, pattern=r"^[A-Za-z0-9]+$", description="the id of its conversation provider"
    )
    highlevel_url: str = Field(
        "https://services.leadconnectorhq.com", pattern=ADDRESS, description="the address of the API"
    )
    highlevel_authorize_url: str = Field(
        "https://marketplace.gohighlevel.com/v2/oauth/chooselocation",
        pattern=ADDRESS,
        description="the address at which people authorize the application",
    )
    highlevel_public_key: str = Field(
        "MCowBQYDK2VwAyEAi2HR1srL4o18O8BRa7gVJY7G7bupbN3H9AwJrHCDiOg=",
        pattern=r"^[A-Za-z0-9+/]{59}=$",
        description="the Ed25519 public key that verifies its notices, in base64 without its frame",
    )

    @model_validator(mode="after")
    def _require_pair(self) -> Self:
        """Refuse a client id without its secret, and the other way round."""
        if (self.highlevel_client_id is None) != (self.highlevel_client_secret is None):
            raise ValueError("MESSAGING_HIGHLEVEL_CLIENT_ID and MESSAGING_HIGHLEVEL_CLIENT_SECRET must be set together")
        return self
