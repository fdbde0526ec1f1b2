"""Rules of retention: texts that count toward no cap any more."""

from app.domain.kernel.retention import Rule, batch_of
from app.domain.quiet_hours.limits import WEEK

RULES = (Rule(f"DELETE FROM capped_texts WHERE {batch_of('capped_texts', 'at < $1')}", WEEK),)
