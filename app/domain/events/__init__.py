"""The dispatcher of recorded events, and the type of the reactions that areas offer to it."""
