"""Asking a carrier for the facts about a phone number; the carrier charges the owner of the connection for it.

The answer is kept, and given again for 30 days.
"""

import math
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete

from app.db.engine import Pool
from app.domain.carriers.carrier import CarrierBusy, LookedUpNumber, LookupUnsupported
from app.domain.carriers.connections import OpenConnection, OpenConnections
from app.domain.carriers.errors import refusals
from app.domain.carriers.models import CarrierLookup
from app.domain.carriers.retention import LOOKED_UP_FOR
from app.domain.kernel.errors import InvalidInput, NotFound, RateLimited
from app.domain.kernel.phone import LineType
from app.domain.kernel.unit_of_work import UnitOfWork

BUSY_SECONDS = 10
"""The wait where a carrier that limits the rate of calls states none."""


FIND = """
SELECT is_valid, line_type, current_carrier, country, looked_up_at FROM carrier_lookups
WHERE account_id = $1 AND carrier = $2 AND phone = $3 AND looked_up_at > $4
"""
KEEP = """
INSERT INTO carrier_lookups (account_id, carrier, phone, is_valid, line_type, current_carrier, country, looked_up_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (account_id, phone, carrier) DO UPDATE SET is_valid = excluded.is_valid, line_type = excluded.line_type,
  current_carrier = excluded.current_carrier, country = excluded.country, looked_up_at = excluded.looked_up_at
"""


class Lookup(NamedTuple):
    """The statements of a carrier about a number, and the time at which it was asked."""

    said: LookedUpNumber
    at: datetime


async def look_up(unit: UnitOfWork, connections: OpenConnections, key: str, phone: str) -> Lookup:
    """Return the facts about a number in E.164 from the carrier of a connection, asked with no transaction open.

    The connection is of the account, or one of the installation that shares lookups; raise `NotFound` for any other,
    `InvalidInput` where its carrier looks up no numbers, `RateLimited`, `CarrierConnectionRefused` and
    `CarrierUnreachable`.
    """
    await unit.pause()
    await connections.refresh()
    await connections.learn([key])
    opened = connections.find(key)
    if opened is None or not _may_use(opened, unit.actor.account_id):
        raise NotFound(kind="carrier connection", id=key)
    asked, now = (unit.actor.account_id, key, phone), unit.clock.now()
    if known := await _find(connections.pool, *asked, now - LOOKED_UP_FOR):
        return known
    lookup = Lookup(await _ask(opened, key, phone), now)
    if _is_definite(lookup.said):
        await _keep(connections.pool, *asked, lookup)
    return lookup


async def forget(unit: UnitOfWork, phone: str) -> None:
    """Delete the answers of carriers about a phone of the account."""
    own = CarrierLookup.account_id == unit.actor.account_id, CarrierLookup.phone == phone
    await unit.execute(delete(CarrierLookup).where(*own))


async def _ask(opened: OpenConnection, key: str, phone: str) -> LookedUpNumber:
    async with opened:
        with refusals():
            try:
                return await opened.carrier.lookup(phone)
            except CarrierBusy as busy:
                raise RateLimited(seconds=math.ceil(busy.retry_after or BUSY_SECONDS)) from None
            except LookupUnsupported:
                reason = f"The carrier of the connection {key} looks up no numbers."
                raise InvalidInput(reason=reason, field="through_connection") from None


async def _find(pool: Pool, account_id: int, key: str, phone: str, since: datetime) -> Lookup | None:
    """Return the answer that the account has paid for since a time."""
    row = await pool.fetchrow(FIND, account_id, key, phone, since)
    if row is None:
        return None
    said = LookedUpNumber(row["is_valid"], LineType(row["line_type"]), row["current_carrier"], row["country"])
    return Lookup(said, row["looked_up_at"])


async def _keep(pool: Pool, account_id: int, key: str, phone: str, lookup: Lookup) -> None:
    """Keep an answer in a transaction of its own: it is paid for, whatever becomes of the unit."""
    said = lookup.said
    stated = said.is_valid, said.line_type.value, said.carrier, said.country
    await pool.execute(KEEP, account_id, key, phone, *stated, lookup.at)


def _is_definite(said: LookedUpNumber) -> bool:
    """Return whether an answer is worth keeping: a carrier that could not find the line out may do so later."""
    return not said.is_valid or said.line_type is not LineType.unknown


def _may_use(opened: OpenConnection, account_id: int) -> bool:
    owner = opened.row.account_id
    return opened.carrier.capabilities.shares_lookups if owner is None else owner == account_id
