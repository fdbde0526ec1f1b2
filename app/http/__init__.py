"""Shared base of the HTTP surfaces: identity, errors, sessions, challenges, CORS, headers and rate limits."""
