"""What the HTTP surfaces share: identity, errors, sessions, challenges, CORS, headers and rate limits."""
