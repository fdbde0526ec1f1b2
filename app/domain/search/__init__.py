"""Search of the records of an account by a name or a phone."""
