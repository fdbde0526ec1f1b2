"""Automations: what is done when a text comes in that is a watched keyword."""
