"""Watched keywords, and the event for an inbound message that equals one."""
