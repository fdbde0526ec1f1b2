"""Decide whether a text may leave: the facts about it, the gates, and the limits of quiet hours and frequency."""
