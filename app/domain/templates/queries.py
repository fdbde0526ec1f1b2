"""Queries for saved templates and the fallbacks of placeholders."""

from collections.abc import Sequence

from sqlalchemy import Select, func, select

from app.domain.kernel.errors import NotFound
from app.domain.kernel.naming import named
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.templates.models import PlaceholderFallback, Template


async def find_page(unit: UnitOfWork, search: str | None, window: Window) -> Page[Template]:
    """Return one page of the account's templates, newest first; `search` matches in the name or text, in any case."""
    statement = _own(unit)
    if wanted := (search or "").strip().lower():
        found = func.lower(Template.name).contains(wanted, autoescape=True)
        statement = statement.where(found | func.lower(Template.body).contains(wanted, autoescape=True))
    return await fetch(unit, statement, Order((Template.id,)), window)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Template:
    """Return a template; with `lock`, locked for a change. Raise `NotFound`."""
    statement = _own(unit).where(Template.id == id)
    template = await unit.one(statement.with_for_update() if lock else statement)
    if template is None:
        raise NotFound(kind="template", id=id)
    return template


async def find_named(unit: UnitOfWork, text: str, limit: int) -> Sequence[Template]:
    """Return the first templates whose name contains a text."""
    return await unit.all(named(_own(unit), Template.name, text, limit))


async def find_fallbacks(unit: UnitOfWork) -> dict[str, str]:
    """Return the account's fallbacks by the names of placeholders."""
    own = select(PlaceholderFallback).where(PlaceholderFallback.account_id == unit.actor.account_id)
    return {row.name: row.fallback for row in await unit.all(own.order_by(PlaceholderFallback.name))}


def _own(unit: UnitOfWork) -> Select[Template]:
    return select(Template).where(Template.account_id == unit.actor.account_id)
