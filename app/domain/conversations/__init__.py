"""Conversations: all messages with one contact, their status, assignee and review."""
