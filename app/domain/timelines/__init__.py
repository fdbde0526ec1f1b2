"""Everything that happened with a contact, in one order."""
