"""Asking a carrier for the facts about a phone number; the carrier charges the owner of the connection for it."""

import math

from app.domain.carriers.carrier import CarrierBusy, LookedUpNumber, LookupUnsupported
from app.domain.carriers.connections import OpenConnection, OpenConnections
from app.domain.carriers.errors import refusals
from app.domain.kernel.errors import InvalidInput, NotFound, RateLimited
from app.domain.kernel.unit_of_work import UnitOfWork

BUSY_SECONDS = 10
"""The wait where a carrier that limits the rate of calls states none."""


async def look_up(unit: UnitOfWork, connections: OpenConnections, key: str, phone: str) -> LookedUpNumber:
    """Ask the carrier of a connection about a number in E.164, with no transaction open.

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
    async with opened:
        with refusals():
            try:
                return await opened.carrier.lookup(phone)
            except CarrierBusy as busy:
                raise RateLimited(seconds=math.ceil(busy.retry_after or BUSY_SECONDS)) from None
            except LookupUnsupported:
                reason = f"The carrier of the connection {key} looks up no numbers."
                raise InvalidInput(reason=reason, field="through_connection") from None


def _may_use(opened: OpenConnection, account_id: int) -> bool:
    owner = opened.row.account_id
    return opened.carrier.capabilities.shares_lookups if owner is None else owner == account_id
