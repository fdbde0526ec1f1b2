"""Buying credits: top-ups and plans through a payment provider."""
