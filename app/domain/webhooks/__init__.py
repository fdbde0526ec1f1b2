"""Telling subscribers what happened."""
