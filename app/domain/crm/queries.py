"""Queries for connections to CRMs, links and pushes."""

from collections.abc import Sequence

from sqlalchemy import select

from app.domain.crm.models import CrmConnection, CrmPush, CrmPushStatus
from app.domain.integrations import queries as integrations
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork


async def list_own(unit: UnitOfWork) -> Sequence[CrmConnection]:
    """Return the connections of the account, the oldest first, without those that were disconnected."""
    own = CrmConnection.account_id == unit.actor.account_id, CrmConnection.integration_id.is_not(None)
    return await unit.all(select(CrmConnection).where(*own).order_by(CrmConnection.id))


async def get(unit: UnitOfWork, integration_id: int, *, lock: bool = False) -> CrmConnection:
    """Return the connection of an integration of the account; raise `NotFound`."""
    own = CrmConnection.account_id == unit.actor.account_id, CrmConnection.integration_id == integration_id
    statement = select(CrmConnection).where(*own)
    found = await unit.one(statement.with_for_update() if lock else statement)
    if found is None:
        raise NotFound(kind="connection to a CRM", id=integration_id)
    return found


async def find_pushes(
    unit: UnitOfWork, integration_id: int | None, status: CrmPushStatus | None, window: Window
) -> Page[CrmPush]:
    """Return a page of the pushes of the account, the newest first."""
    statement = select(CrmPush).where(CrmPush.account_id == unit.actor.account_id)
    if integration_id is not None:
        statement = statement.where(CrmPush.integration_id == integration_id)
    if status is not None:
        statement = statement.where(CrmPush.status == status)
    statement = await integrations.leave_out_removed(unit, statement, CrmPush.integration_id)
    return await fetch(unit, statement, Order((CrmPush.id,)), window)


async def lock_push(unit: UnitOfWork, id: int) -> CrmPush:
    """Return a push of the account, locked for a change; raise `NotFound`."""
    own = select(CrmPush).where(CrmPush.account_id == unit.actor.account_id, CrmPush.id == id)
    found = await unit.one((await integrations.leave_out_removed(unit, own, CrmPush.integration_id)).with_for_update())
    if found is None:
        raise NotFound(kind="push", id=id)
    return found
