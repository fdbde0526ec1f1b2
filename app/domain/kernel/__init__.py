"""Shared base of the areas: units of work, actors, events, errors, time, phone numbers."""
