"""Settings of payments."""

from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode

INSTRUCTIONS = "Ask the operator of this service to add credits."
PLANS = "plans such as Starter=1000@9.00, separated by commas"


class OfferedPlan(NamedTuple):
    """A plan on offer: credits for each month at a price in the currency of the service."""

    name: str
    credits: int
    price: Decimal


class PaymentSettings(BaseSettings):
    """Settings of payments: none through a provider, or through Stripe."""

    payments: Literal["manual", "stripe"] = "manual"
    payment_instructions: str = Field(INSTRUCTIONS, max_length=500, description="a text of at most 500 characters")
    payment_plans: Annotated[tuple[OfferedPlan, ...], NoDecode] = Field((), description=PLANS)
    stripe_secret_key: SecretStr | None = Field(None, description="a secret key of Stripe, such as sk_live_...")
    stripe_webhook_secret: SecretStr | None = Field(None, description="the secret of the endpoint, such as whsec_...")
    stripe_url: str | None = Field(None, pattern="^https?://", description="an address such as https://api.stripe.com")

    @field_validator("payment_plans", mode="before")
    @classmethod
    def _read_plans(cls, value: object) -> Any:
        """Read `NAME=CREDITS@PRICE`, separated by commas."""
        if not isinstance(value, str):
            return value
        return [_plan(part.strip()) for part in value.split(",") if part.strip()]

    @field_validator("payment_plans")
    @classmethod
    def _check_plans(cls, value: tuple[OfferedPlan, ...]) -> tuple[OfferedPlan, ...]:
        if len({plan.name for plan in value}) < len(value) or any(not _is_usable(plan) for plan in value):
            raise ValueError("a plan is not usable")
        return value

    @model_validator(mode="after")
    def _require_secrets(self) -> Self:
        """Refuse Stripe without its two secrets."""
        if self.payments == "stripe" and not (self.stripe_secret_key and self.stripe_webhook_secret):
            raise ValueError("MESSAGING_STRIPE_SECRET_KEY and MESSAGING_STRIPE_WEBHOOK_SECRET must be set for stripe")
        return self


def _plan(text: str) -> OfferedPlan:
    name, _, offer = text.partition("=")
    credits, _, price = offer.partition("@")
    try:
        return OfferedPlan(name.strip(), int(credits), Decimal(price))
    except ArithmeticError:
        raise ValueError("a price is not a number") from None


def _is_usable(plan: OfferedPlan) -> bool:
    return 1 <= len(plan.name) <= 60 and plan.credits > 0 and Decimal("0.5") <= plan.price < 10**7
