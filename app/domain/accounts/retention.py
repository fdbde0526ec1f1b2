"""Retention rules for sessions, mailed links, queued mails and invitations."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

RULES = (
    Rule("DELETE FROM sessions WHERE expires_at < $1", timedelta(0)),
    Rule("DELETE FROM password_links WHERE expires_at < $1", timedelta(0)),
    Rule("DELETE FROM waiting_mails WHERE expires_at < $1", timedelta(0)),
    Rule("DELETE FROM invitations WHERE expires_at < $1", timedelta(0)),
)
