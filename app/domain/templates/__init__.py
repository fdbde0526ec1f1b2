"""Texts with placeholders: their grammar, rendering, measure and lint, and saved templates."""
