"""Validation, limits, compilation and execution of GraphQL operations."""
