"""Sign-in with a password, and its protection against guessing."""
