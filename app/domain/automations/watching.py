"""Add, change and remove watched keywords."""

from collections.abc import Mapping
from typing import Any, TypedDict

from sqlalchemy import select

from app.domain.accounts import scopes
from app.domain.accounts.models import Account
from app.domain.accounts.scopes import Scope
from app.domain.automations import keywords, queries
from app.domain.automations.models import KeywordMatch, WatchedKeyword
from app.domain.contacts.service import MAX_TAG, clean_text
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.templates import checking, vocabulary

MAX_KEYWORDS = 100


class KeywordFields(TypedDict, total=False):
    """The fields of a watched keyword that may be changed; omitted fields keep their values."""

    match: KeywordMatch
    phone_number_id: int | None
    is_active: bool
    opts_in: bool
    double_opt_in: bool
    opt_in_tag: str
    reply: str


async def watch(unit: UnitOfWork, keyword: str, fields: KeywordFields | None = None) -> WatchedKeyword:
    """Watch a keyword: later inbound messages that match it record `keyword_reply`.

    Returns the existing row for a keyword already watched. Raises `InvalidInput`, `NotFound`, `Conflict` at the maximum
    of 100, and `InsufficientScope` for a reply or a consent that the actor may not send or record by hand.
    """
    word = keywords.check(keyword)
    values = await _checked(unit, fields or {})
    _check_scopes(unit, values)
    await _lock(unit)
    watched = {row.keyword: row for row in await queries.list_keywords(unit)}
    if word in watched:
        return watched[word]
    if len(watched) >= MAX_KEYWORDS:
        raise Conflict(reason=f"An account watches at most {MAX_KEYWORDS} keywords. Remove one first.")
    row = WatchedKeyword(account_id=unit.actor.account_id, keyword=word, created_by=unit.actor.label, **values)
    await unit.save(row)
    return row


async def change(unit: UnitOfWork, id: int, fields: KeywordFields) -> WatchedKeyword:
    """Change a watched keyword; raise `NotFound`, `InvalidInput` and `InsufficientScope`."""
    values = await _checked(unit, fields)
    row = await queries.lock_keyword(unit, id)
    for name, value in values.items():
        setattr(row, name, value)
    _check_scopes(unit, {"reply": row.reply, "opts_in": row.opts_in, "double_opt_in": row.double_opt_in})
    await unit.save(row)
    return row


async def unwatch(unit: UnitOfWork, id: int) -> WatchedKeyword:
    """Remove a watched keyword and return it; raise `NotFound`."""
    row = await queries.lock_keyword(unit, id)
    await unit.delete(row)
    return row


async def _checked(unit: UnitOfWork, fields: KeywordFields) -> dict[str, Any]:
    if (number_id := fields.get("phone_number_id")) is not None:
        await numbers.get(unit, number_id)
    if reply := fields.get("reply"):
        checking.check(reply, await vocabulary.find(unit), "reply")
    if "opt_in_tag" in fields:
        tag = clean_text("opt_in_tag", fields["opt_in_tag"], MAX_TAG)
        return {**fields, "opt_in_tag": tag}
    return dict(fields)


def _check_scopes(unit: UnitOfWork, values: Mapping[str, Any]) -> None:
    """Require the scopes of the same acts by hand: a double opt-in asks, and then records consent and adds a tag."""
    asks, opts_in = values.get("reply") or values.get("double_opt_in"), values.get("opts_in")
    needed = [Scope.messages_send] if asks else []
    scopes.require(unit.actor, [*needed, Scope.contacts_write] if opts_in or values.get("double_opt_in") else needed)


async def _lock(unit: UnitOfWork) -> None:
    """Serialize additions for one account by a lock, so that the limit and uniqueness hold."""
    own = select(Account.id).where(Account.id == unit.actor.account_id)
    await unit.one(own.with_for_update(key_share=True))
