"""Settings: every value that an operator may change, read from the environment and from `.env`."""

import difflib
import os
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from app.settings import base_url, sentences, texts
from app.settings.ai import AiSettings
from app.settings.base_url import BASE_URL
from app.settings.crm import CrmSettings
from app.settings.errors import InvalidSetting, UnknownSetting
from app.settings.payments import PaymentSettings
from app.settings.secret_key import LEAST_BYTES
from app.settings.times import MOST_DAYS, Time, Wait
from app.settings.web import WebSettings
from app.settings.webhooks import WebhookSettings
from app.urls import server

PREFIX = "MESSAGING_"
MOST_CREDITS, EMAIL = 10**12, r"^[^\s@]+@[^\s@]+$"
Url = Annotated[str, AfterValidator(server)]
ESCAPED = ", with %23 for # and the like in a user or password"
NAME = "a text of at most 100 characters"


class Settings(WebSettings, WebhookSettings, AiSettings, PaymentSettings, CrmSettings):
    """Settings, read from environment variables. Durations are seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore")

    database_url: Url | None = Field(
        None,
        validation_alias="DATABASE_URL",
        pattern="^postgres(ql)?://",
        description=f"an address such as postgresql://user:password@host/name{ESCAPED}",
    )
    redis_url: Url | None = Field(
        None,
        validation_alias="REDIS_URL",
        pattern="^(rediss?|unix)://",
        description=f"an address such as redis://host:6379/0{ESCAPED}",
    )
    port: int = Field(8000, validation_alias="PORT", ge=1, le=65535)
    host: str = Field("127.0.0.1", description="an address of this machine or its name, such as 127.0.0.1")
    environment: Literal["development", "production"] = "production"
    base_url: str = Field("", description=BASE_URL)
    secret_key: SecretStr | None = Field(None, description=f"a random text of at least {LEAST_BYTES} bytes")
    data: Path = Field(Path("data"), description="the path of a folder")

    carrier: Literal["sandbox"] = "sandbox"
    rate: Decimal = Field(Decimal("0.01"), ge=0, max_digits=10, decimal_places=4)
    currency: str = Field("USD", pattern="^[A-Z]{3}$", description="three capital letters (ISO 4217), such as USD")
    starter_credits: int = Field(1_000, ge=0, le=MOST_CREDITS)
    company_name: str | None = Field(None, max_length=100, description=NAME)
    owner_email: str = Field("owner@example.com", pattern=EMAIL, description="a mail address such as ann@example.com")
    owner_first_name: str | None = Field(None, max_length=100, description=NAME)
    owner_last_name: str | None = Field(None, max_length=100, description=NAME)
    smtp_url: SecretStr | None = Field(None, description="an address such as smtp://user:password@mail.example.com:587")
    mail_from: str = Field(
        "Messaging <messaging@localhost>", description="a mail address such as Messaging <messaging@example.com>"
    )
    database_pool: int = Field(8, ge=2, le=1_000)
    message_days: float = Field(MOST_DAYS, ge=30, le=MOST_DAYS)
    receipt_days: float = Field(90.0, ge=30, le=MOST_DAYS)
    event_days: float = Field(90.0, ge=1, le=MOST_DAYS)
    account_deletion_days: int = Field(30, ge=1, le=365)
    key_cache_seconds: Wait = 2.0
    oauth_key_days: float = Field(90.0, gt=0, le=MOST_DAYS)
    rate_limit: int = Field(6_000, ge=1, le=1_000_000)
    send_rate_limit: int = Field(60_000, ge=1, le=1_000_000)

    handoff_window: int = Field(800, ge=4, le=10_000)
    handoff_timeout_seconds: Time = 10.0
    handoff_lease_seconds: Time = 30.0
    ambiguous_wait_seconds: Wait = 5.0
    unconfirmed_after_seconds: Time = 3600.0
    sandbox_delay_seconds: Wait = 0.2

    log_format: Literal["pretty", "json"] = "pretty"
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"

    @field_validator("base_url")
    @classmethod
    def _normalize(cls, value: str) -> str:
        return base_url.normalize(value) if value else value

    @field_validator(*texts.CHECKS, mode="before")
    @classmethod
    def _check_text(cls, value: object, field: ValidationInfo) -> Any:
        """Trim a text, and refuse one that pydantic would take and the service could not use."""
        if not isinstance(value, str):
            return value
        value = value.strip()
        if not (value.isprintable() and texts.CHECKS[field.field_name or ""](value)):
            raise ValueError("it is not usable")
        return value

    @model_validator(mode="after")
    def _leases_outlast_calls(self) -> Self:
        """Refuse a lease that a single call could outlive: nothing would ever be sent under it."""
        if self.handoff_lease_seconds <= self.handoff_timeout_seconds:
            raise ValueError("MESSAGING_HANDOFF_LEASE_SECONDS must be more than MESSAGING_HANDOFF_TIMEOUT_SECONDS")
        return self

    @property
    def public_url(self) -> str:
        """Return the address clients use, without a slash at its end."""
        return self.base_url or f"{'https' if self.tls_cert else 'http'}://127.0.0.1:{self.port}"

    @property
    def mail_folder(self) -> str | None:
        """Return the folder that mails are written to; None with a mail server."""
        return None if self.smtp_url else str((self.data / "mail").absolute())

    @property
    def in_development(self) -> bool:
        """Return whether the service is used from this machine only, without https and with a generated secret key."""
        return self.environment == "development"


def load() -> Settings:
    """Read the settings; raise `UnknownSetting` for a `MESSAGING_*` name that no setting bears, or `InvalidSetting`."""
    known = names()
    for name in sorted({*os.environ, *dotenv_values(".env")}):
        if name.upper().startswith(PREFIX) and name.upper() not in known.values():
            field = name.lower().removeprefix(PREFIX.lower())
            [near] = difflib.get_close_matches(field, known, 1, 0)
            raise UnknownSetting(f"{name} is not a setting. Did you mean {known[near]}?")
    try:
        return Settings()
    except ValidationError as problem:
        raise InvalidSetting(sentences.refuse(Settings.model_fields, known, problem.errors()[0])) from None


def names() -> dict[str, str]:
    """Return the name that each setting has in the environment."""
    fields = Settings.model_fields.items()
    return {name: str(field.validation_alias or f"{PREFIX}{name}".upper()) for name, field in fields}
