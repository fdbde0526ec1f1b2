"""Settings of webhooks."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, NoDecode

from app.settings.times import MOST_DAYS, Time, Wait

LISTS = ("webhook_retry_schedule", "webhook_allow_nets", "webhook_breaker_seconds", "webhook_notice_seconds")


class WebhookSettings(BaseSettings):
    """Settings of webhook delivery and retention."""

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
    webhook_allow_nets: Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode] = Field(
        (), description="networks such as 10.0.0.0/8, separated by commas"
    )
    webhook_connect_seconds: Time = 5.0
    webhook_timeout_seconds: Time = 15.0
    webhook_breaker_seconds: Annotated[tuple[Wait, ...], NoDecode, Field(min_length=1)] = (30, 60, 120, 300, 600)
    webhook_notice_seconds: Annotated[tuple[Wait, ...], NoDecode] = (3600.0, 86400.0)
    webhook_disable_seconds: Wait = 72 * 3600.0
    webhook_lease_seconds: Time = 15.0
    webhook_payload_days: float = Field(30.0, ge=0, le=MOST_DAYS)
    webhook_metadata_days: float = Field(90.0, ge=0, le=MOST_DAYS)

    @field_validator(*LISTS, mode="before")
    @classmethod
    def _split(cls, value: object) -> Any:
        """Read a list as people write it: separated by commas."""
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value
