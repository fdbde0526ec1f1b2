"""Read the notices of a user, and mark them as read."""

from datetime import datetime

from sqlalchemy import Select, func, select, update

from app.domain.accounts import users
from app.domain.events import outbox
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.notices.events import NoticesRead
from app.domain.notices.models import Notice, NoticeKind

NEWEST = Order((Notice.id,))


async def find_page(unit: UnitOfWork, window: Window, *, is_unread: bool = False) -> Page[Notice]:
    """Return one page of the user's notices, the newest first; raise `PersonRequired`."""
    own = _of(unit, (await users.get_person(unit)).id)
    return await fetch(unit, own.where(Notice.read_at.is_(None)) if is_unread else own, NEWEST, window)


async def count_unread(unit: UnitOfWork) -> int:
    """Return the number of the user's unread notices; 0 for a key."""
    if unit.actor.user_id is None:
        return 0
    unread = _of(unit, unit.actor.user_id).where(Notice.read_at.is_(None)).subquery()
    return await unit.one(select(func.count()).select_from(unread)) or 0


async def read(unit: UnitOfWork, up_to: int, since: int = 0) -> int:
    """Mark the user's notices between two ids as read, and return the number of unread ones; raise `PersonRequired`."""
    person = await users.get_person(unit)
    own = Notice.account_id == unit.actor.account_id, Notice.user_id == person.id, Notice.id.between(since, up_to)
    marked = update(Notice).where(*own, Notice.read_at.is_(None)).values(read_at=unit.clock.now())
    if (await unit.execute(marked.returning(Notice.id))).first():
        outbox.record(unit, NoticesRead())
    return await count_unread(unit)


async def find_last_told(unit: UnitOfWork, kind: NoticeKind, subject_id: int, body: str) -> datetime | None:
    """Return when users of the account last got a notice with a text about a subject; None if none did."""
    about = Notice.kind == kind, Notice.subject_id == subject_id, Notice.body == body
    return await unit.one(select(func.max(Notice.created_at)).where(Notice.account_id == unit.actor.account_id, *about))


def _of(unit: UnitOfWork, user_id: int) -> Select[Notice]:
    own = Notice.account_id == unit.actor.account_id, Notice.user_id == user_id
    return select(Notice).where(*own, Notice.is_shown)
