"""Automations: what is done when a text comes in that holds a keyword."""
