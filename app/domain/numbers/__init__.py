"""The numbers that an account sends from."""
