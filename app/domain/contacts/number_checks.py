"""Checks of phone numbers: validity, line type, region and carrier, offline or by a carrier, with their confidence."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import select

from app.domain.accounts import scopes
from app.domain.accounts.models import Account
from app.domain.accounts.scopes import Scope
from app.domain.carriers import lookups
from app.domain.carriers.carrier import LookedUpNumber
from app.domain.carriers.connections import OpenConnections
from app.domain.contacts import queries
from app.domain.kernel import phone as phones
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.phone import Confidence, InvalidPhone, LandlinePhone, LineType, NumberFacts, NumberValidation
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_CHECKED = 100
"""The maximum number of phones and contacts of one check."""


class CheckSource(enum.StrEnum):
    """The source of the statements of a check."""

    offline = enum.auto()
    carrier = enum.auto()


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """The result for one phone as it was given. `reason` says why it cannot be texted; it is empty if it can.

    Where a carrier was asked, `current_carrier` is the carrier of now.
    """

    phone: str
    e164: str | None
    facts: NumberFacts
    reason: str
    contact_id: int | None
    checked_at: datetime
    is_by_carrier: bool = False
    current_carrier: str | None = None

    @property
    def source(self) -> CheckSource:
        """Return the source of the statements."""
        return CheckSource.carrier if self.is_by_carrier else CheckSource.offline

    @property
    def carrier(self) -> phones.Carrier:
        """Return the carrier of the number."""
        if self.is_by_carrier:
            name = self.current_carrier
            return phones.Carrier(name, Confidence.high if name else Confidence.none)
        return phones.find_carrier(self.e164) if self.e164 else phones.Carrier(None, Confidence.none)


async def check_all(
    unit: UnitOfWork, given: Sequence[str], contact_ids: Sequence[int], country: str | None
) -> list[NumberCheck]:
    """Check phones, and the phones of contacts; national numbers are of `country`, by default the account's region.

    Raises `NotFound` for a contact, and `InvalidInput` for an unknown country, or none or more than `MAX_CHECKED` of
    both.
    """
    if not 0 < len(given) + len(contact_ids) <= MAX_CHECKED:
        raise InvalidInput(reason=f"Give 1 to {MAX_CHECKED} phones and contact_ids together.", field="phones")
    own = select(Account.region).where(Account.id == unit.actor.account_id)
    region = phones.check_country("country", country) if country else await unit.one(own)
    now = unit.clock.now()
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


async def ask_carrier(
    unit: UnitOfWork, connections: OpenConnections, key: str, phone: str, country: str | None
) -> NumberCheck:
    """Check one phone, and ask the carrier of the connection `key`, unless it is no phone number.

    The carrier charges for it, once in 30 days, so the scope `numbers:write` is needed. Raises `InsufficientScope`, and
    as `lookups.look_up` does.
    """
    scopes.require(unit.actor, [Scope.numbers_write])
    found = await look_up(unit, phone, country)
    if found.e164 is None:
        return found
    said, at = await lookups.look_up(unit, connections, key, found.e164)
    return replace(_merge(found, found.e164, said), checked_at=at)


def _merge(found: NumberCheck, e164: str, said: LookedUpNumber) -> NumberCheck:
    """Return a check with the statements of a carrier in place of those of the numbering plan."""
    facts = NumberFacts(
        NumberValidation.valid if said.is_valid else NumberValidation.invalid,
        said.line_type,
        Confidence.none if said.line_type is LineType.unknown else Confidence.high,
        said.country or found.facts.region,
    )
    reason = found.reason
    if not said.is_valid:
        reason = "The carrier says that the number is not in use."
    elif said.line_type is LineType.landline:
        reason = str(LandlinePhone(phone=e164))
    return replace(found, facts=facts, reason=reason, is_by_carrier=True, current_carrier=said.carrier)


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
