"""The payment provider of the settings."""

import structlog

from app.db.engine import Sessions
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify
from app.domain.payments import money
from app.domain.payments.gateway import Gateway, Plan
from app.domain.payments.service import Payments
from app.providers.payments.manual import Manual
from app.providers.payments.stripe.gateway import Stripe
from app.settings import Settings

log = structlog.get_logger(__name__)


def open_payments(settings: Settings, sessions: Sessions, clock: Clock, notify: Notify) -> Payments:
    """Return the payments with the configured provider and plans."""
    plans = [
        Plan(plan.name, plan.credits, money.amount_of(plan.price, settings.currency), settings.currency)
        for plan in settings.payment_plans
    ]
    return Payments(
        _gateway(settings), plans, f"{settings.public_url}/app/billing", sessions, clock, notify, log.warning
    )


def _gateway(settings: Settings) -> Gateway:
    if settings.payments == "manual" or not (settings.stripe_secret_key and settings.stripe_webhook_secret):
        return Manual(settings.payment_instructions)
    secrets = settings.stripe_secret_key, settings.stripe_webhook_secret
    return Stripe(*(secret.get_secret_value() for secret in secrets), base_url=settings.stripe_url)
