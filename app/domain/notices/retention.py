"""Rule of retention for notices."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

RULES = (Rule(f"DELETE FROM notices WHERE {batch_of('notices', 'created_at < $1')}", timedelta(days=90)),)
