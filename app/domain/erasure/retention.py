"""Rule of retention for the carriers' ids of erased texts."""

from app.domain.erasure.service import REPEATED_FOR
from app.domain.kernel.retention import Rule

RULES = (Rule("DELETE FROM erased_texts WHERE erased_at < $1", REPEATED_FOR),)
