"""Requests for an opt-in that a person must confirm: the double opt-in.

The caller holds the lock of the contact with the phone, so that a phone has one open request, confirmed once.
"""

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Select, delete, func, select, tuple_, update

from app.domain.consent.models import OptInOutcome, OptInRequest
from app.domain.kernel.unit_of_work import UnitOfWork

LASTS = timedelta(hours=24)
"""The time in which YES confirms a request; the question states it."""

MAX_DAILY = 5
"""Maximum number of questions to a phone in 24 hours: two programs that answer each other must not go on."""


async def may_ask(unit: UnitOfWork, phone: str) -> bool:
    """Return whether a phone has no open request and was not asked too often; end a request whose time is over."""
    if await find_open(unit, phone):
        return False
    await end(unit, [phone], OptInOutcome.expired)
    asked = _own(unit, phone).where(OptInRequest.created_at > unit.clock.now() - timedelta(days=1))
    return (await unit.one(select(func.count()).select_from(asked.subquery())) or 0) < MAX_DAILY


async def find_open(unit: UnitOfWork, phone: str) -> OptInRequest | None:
    """Return the request of a phone that YES confirms now."""
    still = OptInRequest.ended_at.is_(None), OptInRequest.expires_at > unit.clock.now()
    return await unit.one(_own(unit, phone).where(*still))


async def end(unit: UnitOfWork, phones: Sequence[str], outcome: OptInOutcome) -> None:
    """End the open requests of phones, of each the one that it may have."""
    unended = OptInRequest.account_id == unit.actor.account_id, OptInRequest.phone.in_(phones)
    ended = update(OptInRequest).where(*unended, OptInRequest.ended_at.is_(None))
    await unit.execute(ended.values(outcome=outcome, ended_at=unit.clock.now()))


async def forget(unit: UnitOfWork, phone: str, texts: Select[str, int]) -> None:
    """Delete the requests of a contact that is erased, except confirmed ones, which are evidence of consent.

    They are those of its phone, and those of its `texts`, given by their senders and ids: it had another phone before,
    or another contact was merged into it.
    """
    unconfirmed = OptInRequest.outcome.is_distinct_from(OptInOutcome.confirmed)
    own = OptInRequest.account_id == unit.actor.account_id, unconfirmed
    asked = tuple_(OptInRequest.phone, OptInRequest.message_id).in_(texts)
    for of_contact in (OptInRequest.phone == phone, asked):
        forgotten = delete(OptInRequest).where(*own, of_contact)
        await unit.execute(forgotten.execution_options(synchronize_session=False))


def _own(unit: UnitOfWork, phone: str) -> Select[OptInRequest]:
    return select(OptInRequest).where(OptInRequest.account_id == unit.actor.account_id, OptInRequest.phone == phone)
