"""Segments: saved filters of contacts."""
