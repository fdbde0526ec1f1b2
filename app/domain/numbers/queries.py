"""Queries for sending numbers."""

from collections.abc import Sequence

from sqlalchemy import select

from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers.models import NumberStatus, PhoneNumber

MAX_LISTED = 1000
"""Maximum number of sending numbers in a list."""


async def list_active(unit: UnitOfWork) -> Sequence[PhoneNumber]:
    """Return up to `MAX_LISTED` active numbers of the account, the primary one first."""
    return await unit.all(
        select(PhoneNumber)
        .where(PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.status == NumberStatus.active)
        .order_by(PhoneNumber.is_primary.desc(), PhoneNumber.id)
        .limit(MAX_LISTED)
    )


async def find_primary(unit: UnitOfWork) -> PhoneNumber | None:
    """Return the default sending number."""
    return next(iter(await list_active(unit)), None)


async def find_id(unit: UnitOfWork, phone_number: str) -> int | None:
    """Return the id of an active number of the account by its text in E.164."""
    own = PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.status == NumberStatus.active
    return await unit.one(select(PhoneNumber.id).where(PhoneNumber.phone_number == phone_number, *own))


async def find(unit: UnitOfWork, id: int) -> PhoneNumber | None:
    """Return an active number of the account."""
    of_account = PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.status == NumberStatus.active
    return next(iter(await unit.all(select(PhoneNumber).where(PhoneNumber.id == id, *of_account))), None)
