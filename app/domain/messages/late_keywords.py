"""Keywords of texts that arrive late: each counts at the time at which the person has sent it."""

from datetime import datetime, timedelta

from app.domain.consent import queries as consents
from app.domain.consent.models import OptInRequest
from app.domain.consent.recognition import NOTHING, Intent, IntentKind
from app.domain.kernel.unit_of_work import UnitOfWork

LATE_AFTER = timedelta(minutes=10)
"""The time for which a text counts as one that was sent just now: clocks differ."""

LATE_WITHIN = timedelta(days=7)
"""The time within which a carrier may still bring a text: an older time is wrong, and counts as the present."""

UNCERTAIN = timedelta(minutes=1)
"""The time between two statements in which their order is uncertain: an opt-out counts then."""


def find_late_time(now: datetime, at: datetime | None) -> datetime | None:
    """Return the time at which a text was sent if it is late, or else None."""
    return at if at is not None and now - LATE_WITHIN < at < now - LATE_AFTER else None


def precedes(late_at: datetime | None, request: OptInRequest | None) -> bool:
    """Return whether a late text was sent before a request for an opt-in, so that it cannot answer that."""
    return request is not None and late_at is not None and late_at < request.created_at


async def weigh(unit: UnitOfWork, phone: str, intent: Intent, late_at: datetime | None) -> Intent:
    """Return the intent of a text; none where the person has said the opposite since it was sent."""
    if late_at is None:
        return intent
    match intent.kind:
        case IntentKind.opt_out | IntentKind.review:
            opposite, since = consents.OPT_INS, late_at + UNCERTAIN
        case IntentKind.opt_in:
            opposite, since = consents.OPT_OUTS, late_at - UNCERTAIN
        case _:
            return intent
    return NOTHING if await consents.has_stated_since(unit, phone, opposite, since) else intent
