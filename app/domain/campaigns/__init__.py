"""Campaigns: one text to many contacts, each recipient in one state that is counted."""
