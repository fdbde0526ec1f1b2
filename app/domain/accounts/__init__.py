"""Accounts, their users and their API keys."""
