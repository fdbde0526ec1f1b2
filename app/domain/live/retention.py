"""Rule of retention for live updates."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

DELETE_UPDATES = """
DELETE FROM live_updates u WHERE created_at < $1
  AND position < (SELECT max(position) FROM live_updates newest WHERE newest.account_id = u.account_id)
"""

RULES = (Rule(DELETE_UPDATES, timedelta(days=1)),)
"""The newest update of an account is kept: the next position follows from it."""
