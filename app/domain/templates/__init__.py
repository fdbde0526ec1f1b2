"""Texts with placeholders."""
