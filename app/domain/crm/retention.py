"""Rules of retention: pushes that are over, and the texts of sends; their ids are kept, so that none is repeated."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

KEPT = timedelta(days=90)

_OVER = "created_at < $1 AND status <> 'waiting'"
_WITH_BODY = f"{_OVER} AND body <> ''"

RULES = (
    Rule(f"DELETE FROM crm_pushes WHERE {batch_of('crm_pushes', _OVER)}", KEPT),
    Rule(f"UPDATE crm_sends SET body = '', phone = '' WHERE {batch_of('crm_sends', _WITH_BODY)}", KEPT),
)
