"""Rules of retention for the messages of the sandbox."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

SANDBOX_FOR = timedelta(days=30)

RULES = (Rule("DELETE FROM sandbox_messages WHERE received_at < $1", SANDBOX_FOR),)
