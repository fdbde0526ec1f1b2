"""Rules of retention: pushes that are over, and the texts of sends; their ids are kept, so that none is repeated.

Each text adds a push, also while the CRM cannot be called: those that wait end too. A contact has one that waits.
"""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

KEPT = timedelta(days=90)

_OVER = "created_at < $1 AND (status <> 'waiting' OR kind NOT IN ('contact', 'check'))"
_WITH_BODY = "created_at < $1 AND status <> 'waiting' AND body <> ''"

RULES = (
    Rule(f"DELETE FROM crm_pushes WHERE {batch_of('crm_pushes', _OVER)}", KEPT),
    Rule(f"UPDATE crm_sends SET body = '', phone = '' WHERE {batch_of('crm_sends', _WITH_BODY)}", KEPT),
)
