"""Find suppressions, consent records and holds by phone."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ARRAY, Text, any_, func, literal, select, true
from sqlalchemy.orm import aliased

from app.domain.consent.models import Consent, ConsentKind, Hold, Suppression
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_CONSENTS = 100
"""Maximum number of consent records returned for a phone; each send through the API adds one."""


OPT_INS = frozenset({ConsentKind.opt_in, ConsentKind.re_opt_in})
OPT_OUTS = frozenset({ConsentKind.opt_out, ConsentKind.revoked_other})


async def find_suppression(unit: UnitOfWork, phone: str) -> Suppression | None:
    """Return the account-wide suppression of a phone."""
    return await unit.one(
        select(Suppression).where(
            Suppression.account_id == unit.actor.account_id,
            Suppression.phone == phone,
            Suppression.scope_type == "account",
        )
    )


async def find_consents(unit: UnitOfWork, phones: Sequence[str]) -> Sequence[Consent]:
    """Return the newest `MAX_CONSENTS` consent records of each phone, in the order in which they were recorded."""
    wanted = select(func.unnest(literal(phones, ARRAY(Text))).label("phone")).subquery()
    newest = select(Consent).where(Consent.account_id == unit.actor.account_id, Consent.phone == wanted.c.phone)
    each = aliased(Consent, newest.order_by(Consent.id.desc()).limit(MAX_CONSENTS).lateral())
    return await unit.all(select(each).select_from(wanted.join(each, true())).order_by(each.id))


async def find_hold(unit: UnitOfWork, phone: str) -> Hold | None:
    """Return the hold of a phone."""
    return await unit.one(select(Hold).where(Hold.account_id == unit.actor.account_id, Hold.phone == phone))


async def find_page(unit: UnitOfWork, phone: str, window: Window) -> Page[Consent]:
    """Return one page of the consent records of a phone, the oldest first."""
    own = select(Consent).where(Consent.account_id == unit.actor.account_id, Consent.phone == phone)
    return await fetch(unit, own, Order((Consent.id,), descending=False), window)


async def list_latest(unit: UnitOfWork, phone: str, before: Place | None, limit: int) -> Sequence[Consent]:
    """Return the latest consent records of a phone before a place."""
    own = select(Consent).where(Consent.account_id == unit.actor.account_id, Consent.phone == phone)
    return await unit.all(latest(own, Consent.recorded_at, Consent.id, before, limit))


async def has_opted_out_since(unit: UnitOfWork, phone: str, at: datetime) -> bool:
    """Return whether an opt-out of a phone was recorded at an instant or later."""
    kinds = Consent.kind.in_(OPT_OUTS)
    own = Consent.account_id == unit.actor.account_id, Consent.phone == phone
    return bool(await unit.all(select(Consent.id).where(*own, kinds, Consent.recorded_at >= at).limit(1)))


async def has_stated_since(unit: UnitOfWork, phone: str, kinds: Collection[ConsentKind], at: datetime) -> bool:
    """Return whether a statement about a phone was made at an instant or later, whenever it was recorded."""
    own = Consent.account_id == unit.actor.account_id, Consent.phone == phone
    stated_at = func.coalesce(Consent.occurred_at, Consent.recorded_at)
    wanted = select(Consent.id).where(*own, Consent.kind.in_(kinds), stated_at >= at)
    return bool(await unit.all(wanted.limit(1)))


async def find_suppressed(unit: UnitOfWork, phones: Sequence[str]) -> set[str]:
    """Return those of the phones that are suppressed for the whole account."""
    own = Suppression.account_id == unit.actor.account_id, Suppression.scope_type == "account"
    wanted = literal(phones, ARRAY(Text))
    return set(await unit.all(select(Suppression.phone).where(*own, Suppression.phone == any_(wanted))))
