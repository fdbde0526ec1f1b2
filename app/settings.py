"""Settings: every value that an operator may change, read from the environment and from `.env`."""

import difflib
import os
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from dotenv import dotenv_values
from pydantic import AfterValidator, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app.urls import plain, split

PREFIX = "MESSAGING_"
LISTS = ("webhook_retry_schedule", "webhook_allow_nets", "webhook_breaker_seconds", "webhook_notice_seconds")
MOST_DAYS, MOST_CREDITS, EMAIL = 36_500, 10**12, r"^[^\s@]+@[^\s@]+$"
Wait = Annotated[float, Field(ge=0, le=MOST_DAYS * 86_400)]
Time = Annotated[float, Field(gt=0, le=MOST_DAYS * 86_400)]
Url = Annotated[str, AfterValidator(plain)]
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class UnknownSetting(Exception):
    """A `MESSAGING_*` name that the service does not know; it would be ignored in silence otherwise."""


class InvalidSetting(Exception):
    """A setting has a value that it cannot have."""


class MissingSecretKey(Exception):
    """A service that others can reach was given no secret key."""


class Settings(BaseSettings):
    """What the environment says. Durations are seconds unless the name says otherwise."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_file=".env", extra="ignore")

    database_url: Url | None = Field(None, validation_alias="DATABASE_URL", pattern="^postgres(ql)?://")
    redis_url: Url | None = Field(None, validation_alias="REDIS_URL", pattern="^(rediss?|unix)://")
    port: int = Field(8000, validation_alias="PORT", ge=1, le=65535)
    host: str = "127.0.0.1"
    base_url: Url = ""
    secret_key: SecretStr | None = None
    data: Path = Path("data")

    carrier: str = "sandbox"
    rate: Decimal = Field(Decimal("0.01"), ge=0, max_digits=10, decimal_places=4)
    starter_credits: int = Field(1_000, ge=0, le=MOST_CREDITS)
    company_name: str | None = Field(None, max_length=100)
    owner_email: str = Field("owner@example.com", pattern=EMAIL)
    owner_first_name: str | None = Field(None, max_length=100)
    owner_last_name: str | None = Field(None, max_length=100)
    smtp_url: SecretStr | None = None
    mail_from: str = "Messaging <messaging@localhost>"
    database_pool: int = Field(8, ge=2, le=1_000)
    key_cache_seconds: Wait = 2.0
    oauth_key_days: float = Field(90.0, gt=0, le=MOST_DAYS)
    rate_limit: int = Field(6_000, ge=1, le=1_000_000)
    send_rate_limit: int = Field(60_000, ge=1, le=1_000_000)
    handoff_batch: int = Field(100, ge=1, le=10_000)
    handoff_timeout_seconds: Time = 10.0
    handoff_lease_seconds: Time = 30.0
    ambiguous_wait_seconds: Wait = 5.0
    unconfirmed_after_seconds: Time = 3600.0
    sandbox_delay_seconds: Wait = 0.2

    webhook_retry_schedule: Annotated[tuple[Wait, ...], NoDecode] = (
        5,
        60,
        300,
        1800,
        7200,
        18000,
        36000,
        50400,
        72000,
        86400,
    )
    webhook_allow_nets: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = ()
    webhook_connect_seconds: Time = 5.0
    webhook_timeout_seconds: Time = 15.0
    webhook_breaker_seconds: Annotated[tuple[Wait, ...], NoDecode, Field(min_length=1)] = (30, 60, 120, 300, 600)
    webhook_notice_seconds: Annotated[tuple[Wait, ...], NoDecode] = (3600.0, 86400.0)
    webhook_disable_seconds: Wait = 72 * 3600.0
    webhook_lease_seconds: Time = 15.0
    webhook_payload_days: float = Field(30.0, ge=0, le=MOST_DAYS)
    webhook_metadata_days: float = Field(90.0, ge=0, le=MOST_DAYS)

    log_format: Literal["pretty", "json"] = "pretty"
    log_level: Literal["debug", "info", "warning", "error", "critical"] = "info"

    @field_validator(*LISTS, mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        """Read a list as people write it: separated by commas."""
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @model_validator(mode="after")
    def _leases_outlast_calls(self) -> Self:
        """Refuse a lease that a single call could outlive: nothing would ever be sent under it."""
        if self.handoff_lease_seconds <= self.handoff_timeout_seconds:
            raise ValueError("MESSAGING_HANDOFF_LEASE_SECONDS must be more than MESSAGING_HANDOFF_TIMEOUT_SECONDS")
        return self

    @property
    def public_url(self) -> str:
        """Return the address clients use, without a slash at its end."""
        return (self.base_url or f"http://127.0.0.1:{self.port}").rstrip("/")

    @property
    def in_development(self) -> bool:
        """Tell whether the service is reachable from this machine only."""
        return split(self.public_url).hostname in LOOPBACK

    def check_secret_key(self) -> None:
        """Raise `MissingSecretKey` where the service needs one of its operator's and has none."""
        if self.secret_key is None and not self.in_development:
            raise MissingSecretKey(
                f"MESSAGING_SECRET_KEY is not set, and {self.public_url} can be reached by others. "
                "Set it to a long random text and keep it: API keys stop working when it changes."
            )


def load() -> Settings:
    """Read the settings; raise `UnknownSetting` for a `MESSAGING_*` name that no setting bears, or `InvalidSetting`."""
    known = names()
    for name in sorted({*os.environ, *dotenv_values(".env")}):
        if name.upper().startswith(PREFIX) and name.upper() not in known.values():
            field = name.lower().removeprefix(PREFIX.lower())
            [near] = difflib.get_close_matches(field, known, 1, 0)
            raise UnknownSetting(f"{name} is not a setting. Did you mean {known[near]}?")
    try:
        return Settings()  # pyright: ignore[reportCallIssue]
    except ValidationError as problem:
        fault = problem.errors()[0]
        if not fault["loc"]:
            raise InvalidSetting(f"{fault['msg'].removeprefix('Value error, ')}.") from None
        name = str(fault["loc"][0])
        given = "what it is" if name.endswith("URL") else repr(fault["input"])  # an address may hold a password
        raise InvalidSetting(f"{known.get(name, name)} cannot be {given}: {fault['msg']}.") from None


def names() -> dict[str, str]:
    """Return the name that each setting has in the environment."""
    fields = Settings.model_fields.items()
    return {name: str(field.validation_alias or f"{PREFIX}{name}".upper()) for name, field in fields}
