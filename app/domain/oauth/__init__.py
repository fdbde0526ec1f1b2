"""Applications that act for an account: clients, grants and tokens (OAuth 2)."""
