"""Queries for connections to carriers."""

from collections.abc import Sequence

from sqlalchemy import or_, select

from app.domain.carriers.models import SANDBOX, CarrierConnection
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork


async def find_by_key(unit: UnitOfWork, key: str) -> CarrierConnection | None:
    """Return the connection with a key, of any account: only to keep keys apart."""
    return await unit.one(select(CarrierConnection).where(CarrierConnection.key == key))


async def get_any(unit: UnitOfWork, key: str) -> CarrierConnection:
    """Return a connection of the installation or of any account, for the operator; raise `NotFound`."""
    found = await find_by_key(unit, key)
    if found is None:
        raise NotFound(kind="carrier connection", id=key)
    return found


async def get_own(unit: UnitOfWork, id: int) -> CarrierConnection:
    """Return a connection of the account; raise `NotFound`."""
    own = CarrierConnection.account_id == unit.actor.account_id, CarrierConnection.id == id
    found = await unit.one(select(CarrierConnection).where(*own))
    if found is None:
        raise NotFound(kind="carrier connection", id=id)
    return found


async def list_own(unit: UnitOfWork) -> Sequence[CarrierConnection]:
    """Return the connections of the account, the oldest first."""
    own = CarrierConnection.account_id == unit.actor.account_id
    return await unit.all(select(CarrierConnection).where(own).order_by(CarrierConnection.id))


async def list_real_keys(unit: UnitOfWork) -> frozenset[str]:
    """Return the keys of the connections to phones that the account may use: of its own and of the installation."""
    usable = or_(CarrierConnection.account_id == unit.actor.account_id, CarrierConnection.account_id.is_(None))
    return frozenset(await unit.all(select(CarrierConnection.key).where(usable, CarrierConnection.kind != SANDBOX)))


async def list_all(unit: UnitOfWork) -> Sequence[CarrierConnection]:
    """Return the connections of the installation and of all accounts, for the operator."""
    return await unit.all(select(CarrierConnection).order_by(CarrierConnection.id))


async def lock(unit: UnitOfWork, id: int) -> CarrierConnection:
    """Return a connection as it is now, locked until the transaction ends; raise `NotFound` once it was removed."""
    statement = select(CarrierConnection).where(CarrierConnection.id == id).with_for_update()
    found = await unit.one(statement.execution_options(populate_existing=True))
    if found is None:
        raise NotFound(kind="carrier connection", id=id)
    return found
