"""Queries for jobs."""

from collections.abc import Sequence

from sqlalchemy import Select, select

from app.domain.jobs.models import UNFINISHED, AccountJob
from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

NEWEST = Order((AccountJob.id,))


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> AccountJob:
    """Return a job of the account; with `lock`, locked for a change. Raise `NotFound`."""
    found = _own(unit).where(AccountJob.id == id)
    job = await unit.one(found.with_for_update().execution_options(populate_existing=True) if lock else found)
    if job is None:
        raise NotFound(kind="job", id=id)
    return job


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, AccountJob]:
    """Return jobs of the account by their ids."""
    return {job.id: job for job in await unit.all(_own(unit).where(records.among(AccountJob.id, ids)))}


async def find_page(unit: UnitOfWork, *, unfinished_only: bool, window: Window) -> Page[AccountJob]:
    """Return one page of the account's jobs, the newest first."""
    found = _own(unit)
    return await fetch(
        unit, found.where(AccountJob.status.in_(UNFINISHED)) if unfinished_only else found, NEWEST, window
    )


def _own(unit: UnitOfWork) -> Select[AccountJob]:
    return select(AccountJob).where(AccountJob.account_id == unit.actor.account_id)
