"""Telnyx."""
