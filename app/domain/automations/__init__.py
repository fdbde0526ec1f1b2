"""Watched keywords, and automations: their triggers, conditions, actions and runs."""
