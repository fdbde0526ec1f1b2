"""The carrier that reaches nobody: its network is two tables, and its numbers do what they are documented to do."""
