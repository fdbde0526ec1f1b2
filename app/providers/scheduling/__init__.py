"""Adapters of scheduling tools."""
