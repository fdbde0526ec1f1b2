"""Retention of the results of numbers."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

RULES = (Rule(f"DELETE FROM number_hours WHERE {batch_of('number_hours', 'hour < $1')}", timedelta(days=400)),)
