"""Queries for watched keywords."""

from collections.abc import Sequence

from sqlalchemy import Select, select

from app.domain.automations.models import WatchedKeyword
from app.domain.kernel.errors import NotFound
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


def _own(unit: UnitOfWork) -> Select[WatchedKeyword]:
    return select(WatchedKeyword).where(WatchedKeyword.account_id == unit.actor.account_id)
