"""Rules of retention for authorization requests, codes, refresh tokens and signing keys."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

EVIDENCE = timedelta(days=1)
"""The time that expired codes and refresh tokens are stored, to recognize their reuse."""

RULES = (
    Rule("DELETE FROM oauth_requests WHERE expires_at < $1", timedelta(0)),
    Rule("DELETE FROM oauth_codes WHERE expires_at < $1", EVIDENCE),
    Rule("DELETE FROM oauth_refresh_tokens WHERE expires_at < $1", EVIDENCE),
    Rule("DELETE FROM oauth_signing_keys WHERE expires_at < $1", timedelta(0)),
)
