"""The installation that started a payment or plan: several may share an account of a provider, and ids of accounts."""

from sqlalchemy import ColumnElement, exists, or_, select

from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.payments.gateway import PaymentState, PlanState
from app.domain.payments.models import Payment, PaymentCustomer, PaymentInstallation, PlanSubscription

KEYS = select(PaymentInstallation.key).order_by(PaymentInstallation.id.desc())

Stored = type[Payment] | type[PaymentCustomer] | type[PlanSubscription]


async def get_installation(unit: UnitOfWork) -> str:
    """Return the key of this installation."""
    return (await unit.all(KEYS))[0]


async def is_own(unit: UnitOfWork, provider: str, state: PaymentState | PlanState) -> bool:
    """Return whether this installation started a payment or plan.

    One with a former key of it, or with none because it is older than the keys, is so only if its own id or that of its
    customer is stored for the account.
    """
    present, *former = await unit.all(KEYS)
    if state.installation == present:
        return True
    return state.installation in ("", *former) and await _is_stored(unit, provider, state)


async def is_former(unit: UnitOfWork, state: PaymentState) -> bool:
    """Return whether a payment was started with a former key of this installation."""
    return state.installation in (await unit.all(KEYS))[1:]


async def _is_stored(unit: UnitOfWork, provider: str, state: PaymentState | PlanState) -> bool:
    def stored(table: Stored, reference: str | None) -> ColumnElement[bool]:
        own = table.account_id == unit.actor.account_id, table.provider == provider
        return exists().where(*own, table.provider_id == reference)

    by_reference = [stored(table, state.reference) for table in (Payment, PlanSubscription)]
    return bool(await unit.one(select(or_(stored(PaymentCustomer, state.customer), *by_reference))))
