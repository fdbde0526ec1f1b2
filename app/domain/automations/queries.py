"""Queries for watched keywords, automations and their runs."""

from collections.abc import Sequence

from sqlalchemy import Select, func, select

from app.domain.automations.models import Automation, AutomationRun, AutomationStatus, RunStatus, WatchedKeyword
from app.domain.kernel.errors import NotFound
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.naming import named
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork


async def list_keywords(unit: UnitOfWork) -> Sequence[WatchedKeyword]:
    """Return the account's watched keywords in alphabetical order."""
    return await unit.all(_own(unit).order_by(WatchedKeyword.keyword))


async def lock_keyword(unit: UnitOfWork, id: int) -> WatchedKeyword:
    """Return a watched keyword, locked for its removal; raise `NotFound`."""
    found = await unit.one(_own(unit).where(WatchedKeyword.id == id).with_for_update())
    if found is None:
        raise NotFound(kind="watched keyword", id=id)
    return found


async def find_automations(unit: UnitOfWork, status: AutomationStatus | None, window: Window) -> Page[Automation]:
    """Return one page of the account's automations, newest first."""
    own = _automations(unit).where(Automation.status == status) if status else _automations(unit)
    return await fetch(unit, own, Order((Automation.id,)), window)


async def get_automation(unit: UnitOfWork, id: int, *, lock: bool = False) -> Automation:
    """Return an automation; with `lock`, locked for a change. Raise `NotFound`."""
    found = _automations(unit).where(Automation.id == id)
    automation = await unit.one(found.with_for_update() if lock else found)
    if automation is None:
        raise NotFound(kind="automation", id=id)
    return automation


async def find_named(unit: UnitOfWork, text: str, limit: int) -> Sequence[Automation]:
    """Return the first automations whose name contains a text."""
    return await unit.all(named(_automations(unit), Automation.name, text, limit))


async def count_automations(unit: UnitOfWork) -> int:
    """Return the number of the account's automations."""
    return await unit.one(select(func.count()).select_from(_automations(unit).subquery())) or 0


async def find_runs(
    unit: UnitOfWork, automation_id: int | None, status: RunStatus | None, window: Window
) -> Page[AutomationRun]:
    """Return one page of the account's runs, newest first: all, or those of an automation, or with a status."""
    own = select(AutomationRun).where(AutomationRun.account_id == unit.actor.account_id)
    if automation_id is not None:
        own = own.where(AutomationRun.automation_id == automation_id)
    if status:
        own = own.where(AutomationRun.status == status)
    return await fetch(unit, own, Order((AutomationRun.id,)), window)


async def list_runs_of_contact(
    unit: UnitOfWork, contact_id: int, before: Place | None, limit: int
) -> Sequence[tuple[AutomationRun, str]]:
    """Return the latest runs of automations for a contact before a place, each with the name of its automation."""
    own = AutomationRun.account_id == unit.actor.account_id, AutomationRun.contact_id == contact_id
    runs = select(AutomationRun, Automation.name).join(Automation, Automation.id == AutomationRun.automation_id)
    return await unit.rows(latest(runs.where(*own), AutomationRun.created_at, AutomationRun.id, before, limit))


def _automations(unit: UnitOfWork) -> Select[Automation]:
    return select(Automation).where(Automation.account_id == unit.actor.account_id)


def _own(unit: UnitOfWork) -> Select[WatchedKeyword]:
    return select(WatchedKeyword).where(WatchedKeyword.account_id == unit.actor.account_id)
