"""Offline checks of phone numbers: validity, line type, region and original carrier, each with its confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from app.domain.accounts.models import Account
from app.domain.contacts import queries
from app.domain.kernel import phone as phones
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.phone import InvalidPhone, LandlinePhone, NumberFacts
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_CHECKED = 100
"""The maximum number of phones and contacts of one check."""


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """The result for one phone as it was given. `reason` says why it cannot be texted; it is empty if it can."""

    phone: str
    e164: str | None
    facts: NumberFacts
    reason: str
    contact_id: int | None
    checked_at: datetime


async def check_all(
    unit: UnitOfWork, given: Sequence[str], contact_ids: Sequence[int], country: str | None
) -> list[NumberCheck]:
    """Check phones, and the phones of contacts; national numbers are of `country`, by default the account's region.

    Raises `NotFound` for a contact, and `InvalidInput` for none or more than `MAX_CHECKED` of both.
    """
    if not 0 < len(given) + len(contact_ids) <= MAX_CHECKED:
        raise InvalidInput(reason=f"Give 1 to {MAX_CHECKED} phones and contact_ids together.", field="phones")
    own = select(Account.region).where(Account.id == unit.actor.account_id)
    region, now = country or await unit.one(own), unit.clock.now()
    found = await queries.find_many(unit, contact_ids) if contact_ids else {}
    if missing := [id for id in contact_ids if id not in found]:
        raise NotFound(kind="contact", id=missing[0])
    return [_check(phone, region, None, now) for phone in given] + [
        _check(found[id].phone, None, id, now) for id in contact_ids
    ]


async def look_up(unit: UnitOfWork, phone: str, country: str | None) -> NumberCheck:
    """Check one phone."""
    [found] = await check_all(unit, [phone], [], country)
    return found


def _check(phone: str, region: str | None, contact_id: int | None, now: datetime) -> NumberCheck:
    try:
        e164 = phones.normalize(phone, region)
    except InvalidPhone as fault:
        return NumberCheck(phone, None, phones.NOT_A_NUMBER, str(fault), contact_id, now)
    return NumberCheck(phone, e164, phones.describe(e164), _reason(e164), contact_id, now)


def _reason(e164: str) -> str:
    try:
        phones.require_recipient(e164)
    except (InvalidPhone, LandlinePhone) as fault:
        return str(fault)
    return ""
