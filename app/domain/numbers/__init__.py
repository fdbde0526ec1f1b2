"""Sending numbers of an account."""
