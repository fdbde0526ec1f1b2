"""Rules of retention for the deliveries of SMPP connections."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

KEPT_FOR = timedelta(hours=24)
"""The time that an incomplete text waits for its other parts; a complete one is kept no longer."""

RULES = (Rule("DELETE FROM smpp_deliveries WHERE received_at < $1 AND (total IS NULL OR is_complete)", KEPT_FOR),)
