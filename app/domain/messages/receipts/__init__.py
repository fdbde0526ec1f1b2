"""Receipts of carriers: journaled, matched with their messages and applied."""
