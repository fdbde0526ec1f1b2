"""Quiet hours and frequency caps: the time zones of a phone, the laws of its place, and when a text may leave."""
