"""Retention of the runs of agents."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

RULES = (
    Rule(
        f"DELETE FROM ai_agent_runs WHERE {batch_of('ai_agent_runs', 'created_at < $1 AND status = $$done$$')}",
        timedelta(days=90),
    ),
)
