"""Sending and receiving texts."""
