"""Retention of the calls of writers."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

RULES = (
    Rule(
        f"DELETE FROM writer_calls WHERE {batch_of('writer_calls', 'created_at < $1')}",
        timedelta(days=365),
    ),
)
