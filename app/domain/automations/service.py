"""Add and remove watched keywords."""

from sqlalchemy import select

from app.domain.accounts.models import Account
from app.domain.automations import keywords, queries
from app.domain.automations.models import WatchedKeyword
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_KEYWORDS = 100


async def watch(unit: UnitOfWork, keyword: str) -> WatchedKeyword:
    """Watch a keyword: later inbound messages that equal it record `keyword_reply`.

    Returns the existing row for a keyword already watched. Raises `InvalidInput`, and `Conflict` at the maximum of 100.
    """
    word = keywords.check(keyword)
    await _lock(unit)
    watched = {row.keyword: row for row in await queries.list_keywords(unit)}
    if word in watched:
        return watched[word]
    if len(watched) >= MAX_KEYWORDS:
        raise Conflict(reason=f"An account watches at most {MAX_KEYWORDS} keywords. Remove one first.")
    row = WatchedKeyword(account_id=unit.actor.account_id, keyword=word, created_by=unit.actor.label)
    await unit.save(row)
    return row


async def unwatch(unit: UnitOfWork, id: int) -> WatchedKeyword:
    """Remove a watched keyword and return it; raise `NotFound`."""
    row = await queries.lock_keyword(unit, id)
    await unit.delete(row)
    return row


async def _lock(unit: UnitOfWork) -> None:
    """Serialize additions for one account by a lock, so that the limit and uniqueness hold."""
    own = select(Account.id).where(Account.id == unit.actor.account_id)
    await unit.one(own.with_for_update(key_share=True))
