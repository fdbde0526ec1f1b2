"""Queries for sending numbers."""

from collections.abc import Sequence

from sqlalchemy import func, select, text

from app.domain.carriers import queries as carriers
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import sql
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


async def list_connections(unit: UnitOfWork) -> Sequence[str]:
    """Return the keys of the connections that the account has active numbers at."""
    own = PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.status == NumberStatus.active
    return await unit.all(select(PhoneNumber.carrier).where(*own).distinct())


async def list_usual(unit: UnitOfWork) -> Sequence[PhoneNumber]:
    """Return the active numbers for texts whose sender is not named, the primary one first, without paused ones.

    Numbers of the sandbox are among them only where the account has no other, paused or not.
    """
    active, real = await list_active(unit), await carriers.list_real_keys(unit)
    usual = [each for each in active if each.carrier in real] or active
    return [each for each in usual if not each.is_paused]


async def find_primary(unit: UnitOfWork) -> PhoneNumber | None:
    """Return the default sending number."""
    return next(iter(await list_usual(unit)), None)


async def find_usual_id(unit: UnitOfWork, phone_number: str) -> int | None:
    """Return the id of the number for an answer to a text to `phone_number`; see `sql.choose`."""
    chosen = text(f"phone_numbers.id = {sql.choose(':account_id', 'CAST(:usual_number AS text)')}")
    own = chosen.bindparams(account_id=unit.actor.account_id, usual_number=phone_number)
    return await unit.one(select(PhoneNumber.id).where(own))


async def count_at(unit: UnitOfWork, carrier: str) -> int:
    """Return the number of active numbers of a connection, of all accounts."""
    active = PhoneNumber.carrier == carrier, PhoneNumber.status == NumberStatus.active
    return await unit.one(select(func.count()).select_from(PhoneNumber).where(*active)) or 0


async def find_sender(unit: UnitOfWork, carrier: str) -> str | None:
    """Return an active number of a connection, of any account: for a test by the operator."""
    active = PhoneNumber.carrier == carrier, PhoneNumber.status == NumberStatus.active
    return await unit.one(select(PhoneNumber.phone_number).where(*active).order_by(PhoneNumber.id).limit(1))


async def find_active(unit: UnitOfWork, phone_number: str) -> PhoneNumber | None:
    """Return an active number of any account: only to keep numbers apart, and for the operator."""
    active = PhoneNumber.phone_number == phone_number, PhoneNumber.status == NumberStatus.active
    return await unit.one(select(PhoneNumber).where(*active))


async def find(unit: UnitOfWork, id: int) -> PhoneNumber | None:
    """Return an active number of the account."""
    of_account = PhoneNumber.account_id == unit.actor.account_id, PhoneNumber.status == NumberStatus.active
    return next(iter(await unit.all(select(PhoneNumber).where(PhoneNumber.id == id, *of_account))), None)


async def find_any(unit: UnitOfWork, id: int) -> PhoneNumber | None:
    """Return a number of the account, active or not."""
    own = PhoneNumber.account_id == unit.actor.account_id
    return await unit.one(select(PhoneNumber).where(PhoneNumber.id == id, own))


async def get(unit: UnitOfWork, id: int) -> PhoneNumber:
    """Return a number of the account, active or not; raise `NotFound`."""
    found = await find_any(unit, id)
    if found is None:
        raise NotFound(kind="phone number", id=id)
    return found
