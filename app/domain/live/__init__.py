"""Live updates of an account."""
