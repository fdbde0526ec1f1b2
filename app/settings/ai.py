"""Settings of the AI."""

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings

from app.settings.times import Time


class AiSettings(BaseSettings):
    """The language model that writes texts; without a model, templates write them."""

    ai_protocol: Literal["openai", "anthropic"] = "openai"
    ai_base_url: str | None = Field(
        None, pattern=r"^https?://\S+$", description="an address such as https://api.openai.com/v1"
    )
    ai_api_key: SecretStr | None = Field(None, description="an API key: letters, digits and signs without spaces")
    ai_model: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_.:/@+-]*$",
        max_length=200,
        description="the name of a model, such as gpt-5-mini",
    )
    ai_output: Literal["tool", "json_schema", "prompted"] = "tool"
    ai_timeout_seconds: Time = 30.0
    ai_calls_at_once: int = Field(4, ge=1, le=100)
