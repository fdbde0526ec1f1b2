"""Stop a campaign that harms its numbers: filtered texts, opt-outs, or a sender that the carrier refuses."""

from collections.abc import Sequence

from app.db.engine import Connection
from app.db.rows import fetch
from app.domain.campaigns.models import PauseReason, RecipientState
from app.domain.campaigns.reasons import OF_SENDER
from app.domain.campaigns.rows import Result
from app.domain.carriers.carrier import FailureCode

LAST = 200
FEWEST = 50
"""The number of final results that are looked at, and that a share is computed of at least."""

MOST_FILTERED, MOST_OPT_OUTS = 0.10, 0.03
MOST_REFUSED = 5
"""The number of refusals of the sender in a row that a campaign survives."""

FIND = f"""
SELECT state, reason, opted_out_at FROM campaign_recipients
WHERE campaign_id = $1 AND settled_at >= (SELECT coalesce(resumed_at, '-infinity') FROM campaigns WHERE id = $1)
  AND (state IN ('delivered', 'failed')) IS TRUE
ORDER BY settled_at DESC LIMIT {LAST}
"""


async def find_fault(connection: Connection, campaign_id: int) -> PauseReason | None:
    """Return the reason to pause a campaign by its last final results since it was resumed."""
    return judge(await fetch(connection, Result, FIND, campaign_id))


def judge(results: Sequence[Result]) -> PauseReason | None:
    """Return the reason to stop by final results, the newest first."""
    refused = [result.state == RecipientState.failed and result.reason in OF_SENDER for result in results]
    if len(results) > MOST_REFUSED and all(refused[: MOST_REFUSED + 1]):
        return PauseReason.sender_refused
    if len(results) < FEWEST:
        return None
    if sum(result.reason == FailureCode.filtered for result in results) > MOST_FILTERED * len(results):
        return PauseReason.filtered
    if sum(result.opted_out_at is not None for result in results) > MOST_OPT_OUTS * len(results):
        return PauseReason.opt_outs
    return None
