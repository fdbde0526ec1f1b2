"""Implementations of the domain's ports: carriers, writers, mail, outbound HTTP, rate limits."""
