"""Threads of messages with one contact."""
