"""Carriers."""
