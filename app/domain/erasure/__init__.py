"""Erasure of contacts and accounts, and export of accounts."""
