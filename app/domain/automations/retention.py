"""Rule of retention for runs of automations."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

KEPT = timedelta(days=90)

RULES = (Rule(f"DELETE FROM automation_runs WHERE {batch_of('automation_runs', 'ended_at < $1')}", KEPT),)
